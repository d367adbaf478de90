// Times single operations on the GPU: a CUDA graph of several copies of the operation, each on
// weights of its own, so that the weights come from memory and not from the cache.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/builder/GraphBuilder.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"
#include "support/Status.h"

namespace tenon {
namespace {

using frontends::GraphBuilder;
using frontends::Value;

constexpr int calls = 12;

struct Measurement {
  std::string name;
  int copies;
  double bytes; ///< that one copy has to read
  std::function<void(GraphBuilder&, int copy)> build;
  std::function<void(GraphBuilder&, int copy)> declare = {}; ///< its weights
  passes::Plan plan = passes::Plan::Unfused;
};

/// Positions in ascending order, other integers zero, floats within [1, 2) of either sign.
std::vector<std::byte> makeInput(const runtime::Port& port) {
  std::vector<std::byte> bytes(port.bytes);
  uint32_t random = 1;
  for (size_t i = 0; port.encoding == "f16" && i + 1 < bytes.size(); i += 2) {
    random = random * 1664525 + 1013904223;
    bytes[i] = std::byte(random >> 16);
    bytes[i + 1] = std::byte((random >> 24 & 0x83) | 0x3C);
  }
  for (size_t i = 0; port.role == runtime::PortRole::Positions && i < bytes.size() / 4; ++i)
    reinterpret_cast<int32_t*>(bytes.data())[i] = static_cast<int32_t>(i);
  return bytes;
}

/// The time of one copy in ns: the least of some calls.
absl::StatusOr<double> measure(const Measurement& measurement, std::string& schedule) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<TenonDialect>();
  GraphBuilder builder(context, mlir::Float16Type::get(&context));
  if (measurement.declare)
    for (int copy = 0; copy < measurement.copies; ++copy)
      measurement.declare(builder, copy);
  builder.beginFunction("f");
  for (int copy = 0; copy < measurement.copies; ++copy)
    measurement.build(builder, copy);
  builder.endFunction();
  TENON_ASSIGN_OR_RETURN(auto module, builder.finish());
  passes::PipelineOptions options = {.target = findTarget(&context, "h200")};
  options.fusion.plan = measurement.plan;
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, options));
  module->walk([&](KernelOp kernel) { schedule = kernel.getScheduleAttr().getEmitter().str(); });
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCuda(*module, {}));
  // Weights that are constant: made on the device, and on their way before a kernel's turn.
  for (runtime::Constant& constant : program.constants)
    if (findEncoding(constant.encoding)->isBlockQuantized())
      constant.source = runtime::SharedBytes(std::vector<std::byte>(constant.bytes));
    else
      constant.source = std::vector<runtime::RandomRange>{{constant.bytes, 1, 0, 1}};
  program.files.clear();
  TENON_ASSIGN_OR_RETURN(auto executor, runtime::CudaExecutor::create(std::move(program), {}));
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  const runtime::Function& function = executor->program().functions[0];
  storage.reserve(function.inputs.size() + function.outputs.size());
  for (const runtime::Port& port : function.inputs)
    inputs.push_back(storage.emplace_back(makeInput(port)));
  for (const runtime::Port& port : function.outputs)
    outputs.push_back(storage.emplace_back(port.bytes));
  TENON_RETURN_IF_ERROR(executor->run(0, inputs, outputs));
  double best = 1e30;
  for (int call = 0; call < calls; ++call) {
    TENON_RETURN_IF_ERROR(executor->repeatSteps(0, /*times=*/2));
    best = std::min(best, double(executor->lastStepsNs()) / measurement.copies);
  }
  return best;
}

struct Shape {
  int64_t rows, columns, depth;
};

/// `copies` of y = x · Wᵀ, each on a weight of its own, 400 MB of them or at least three.
Measurement matmul(const std::string& encoding, const Shape& s) {
  const Encoding* type = findEncoding(encoding);
  double bytes = type->bytesFor(s.columns * s.depth);
  int copies = std::clamp<int>(4e8 / bytes, 3, 24);
  return {absl::StrFormat("matmul %s %dx%dx%d", encoding, s.rows, s.columns, s.depth), copies,
          bytes,
          [s](GraphBuilder& b, int copy) {
            std::string suffix = std::to_string(copy);
            Value x = b.input("x" + suffix, {s.rows, s.depth});
            b.output("y" + suffix, b.matmul(x, b.weight("w" + suffix)));
          },
          [s, type](GraphBuilder& b, int copy) {
            std::string suffix = std::to_string(copy);
            int64_t bytes = type->bytesFor(s.columns * s.depth);
            b.declareFile("m" + suffix, "unused", bytes, 0);
            b.declareWeight("w" + suffix, {s.columns, s.depth},
                            getElementType(b.getActivationType().getContext(), *type),
                            {{"m" + suffix, 0, bytes}});
          }};
}

/// The products of Llama-3.2-1B, Llama-3.1-8B and Pythia-2.8B, and of their fused kernels.
std::vector<Measurement> matmuls() {
  std::vector<Measurement> all;
  for (const Shape& s :
       {Shape{1, 512, 2048}, {1, 2048, 2048},   {1, 8192, 2048},  {1, 2048, 8192},
        {1, 128256, 2048},   {1, 1024, 4096},   {1, 4096, 4096},  {1, 14336, 4096},
        {1, 4096, 14336},    {1, 2560, 2560},   {1, 7680, 2560},  {1, 10240, 2560},
        {1, 2560, 10240},    {1, 50304, 2560},  {1, 3072, 2048},  {1, 16384, 2048},
        {1, 6144, 4096},     {1, 28672, 4096},  {2, 6144, 4096},  {4, 6144, 4096},
        {8, 6144, 4096},     {16, 6144, 4096},  {4, 2560, 2560},  {16, 2560, 2560},
        {16, 2048, 8192},    {16, 28672, 4096}, {64, 6144, 4096}, {512, 6144, 4096}})
    all.push_back(matmul("f16", s));
  for (const char* encoding : {"q8_0", "q4_0", "q4_k", "q6_k"})
    for (const Shape& s : {Shape{1, 2048, 2048},
                           {1, 8192, 2048},
                           {1, 2048, 8192},
                           {1, 4096, 4096},
                           {1, 14336, 4096},
                           {1, 4096, 14336},
                           {1, 128256, 2048},
                           {4, 6144, 4096},
                           {16, 6144, 4096}})
      all.push_back(matmul(encoding, s));
  return all;
}

/// Operations that fusion makes one kernel, of values that the cache holds.
std::vector<Measurement> fusedRows() {
  std::vector<Measurement> all;
  for (auto [rows, width] : {std::pair<int64_t, int64_t>{1, 2560}, {1024, 2560}, {4096, 4096}}) {
    for (bool layer : {false, true})
      all.push_back({absl::StrFormat("residual + %s f16 %dx%d, both stored",
                                     layer ? "layer_norm" : "rms_norm", rows, width),
                     20,
                     8.0 * rows * width,
                     [=](GraphBuilder& b, int copy) {
                       std::string suffix = std::to_string(copy);
                       Value x = b.input("x" + suffix, {rows, width});
                       Value sum = b.add(x, b.input("r" + suffix, {rows, width}));
                       Value weight = b.input("w" + suffix, {width});
                       b.output("s" + suffix, sum);
                       b.output("y" + suffix,
                                layer
                                    ? b.layerNorm(sum, weight, b.input("b" + suffix, {width}), 1e-5)
                                    : b.rmsNorm(sum, weight, 1e-5));
                     },
                     {},
                     passes::Plan::Fused});
  }
  return all;
}

/// What a decode step of Llama-3.2-1B has between its products.
std::vector<Measurement> smallRows() {
  std::vector<Measurement> all;
  auto add = [&](const char* name, std::function<void(GraphBuilder&, const std::string&)> build) {
    all.push_back(
        {name, 24, 0, [build](GraphBuilder& b, int copy) { build(b, std::to_string(copy)); }});
  };
  add("add f16 1x2048", [](GraphBuilder& b, const std::string& s) {
    b.output("y" + s, b.add(b.input("x" + s, {1, 2048}), b.input("r" + s, {1, 2048})));
  });
  add("glu f16 1x8192", [](GraphBuilder& b, const std::string& s) {
    b.output("y" + s,
             b.glu(Activation::Silu, b.input("x" + s, {1, 8192}), b.input("r" + s, {1, 8192})));
  });
  add("rope f16 1x32x64", [](GraphBuilder& b, const std::string& s) {
    mlir::MLIRContext* context = b.getActivationType().getContext();
    b.output("y" + s, b.rope(RopePairing::Halves, b.input("x" + s, {1, 32, 64}),
                             b.input("p" + s, {1}, mlir::IntegerType::get(context, 32)),
                             b.input("f" + s, {32}, mlir::Float32Type::get(context)), 1.0));
  });
  for (int64_t width : {2048, 4096})
    add(width == 2048 ? "rms_norm f16 1x2048" : "rms_norm f16 1x4096",
        [width](GraphBuilder& b, const std::string& s) {
          b.output("y" + s,
                   b.rmsNorm(b.input("x" + s, {1, width}), b.input("w" + s, {width}), 1e-5));
        });
  return all;
}

std::vector<Measurement> others() {
  std::vector<Measurement> all;
  for (int64_t rows : {1, 1024, 4096}) {
    int64_t width = rows == 4096 ? 4096 : 2560;
    all.push_back({absl::StrFormat("rms_norm f16 %dx%d", rows, width), 20, 4.0 * rows * width,
                   [=](GraphBuilder& b, int copy) {
                     std::string suffix = std::to_string(copy);
                     Value x = b.input("x" + suffix, {rows, width});
                     Value w = b.input("w" + suffix, {width});
                     b.output("y" + suffix, b.rmsNorm(x, w, 1e-5));
                   }});
  }
  for (int64_t keys : {512, 4096, 32768}) {
    all.push_back(
        {absl::StrFormat("decode attention 32/8 heads of 128, %d keys", keys), 3,
         4.0 * keys * 8 * 128, [=](GraphBuilder& b, int copy) {
           std::string suffix = std::to_string(copy);
           mlir::Type i32 = mlir::IntegerType::get(b.getActivationType().getContext(), 32);
           Value q = b.input("q" + suffix, {1, 32, 128});
           Value k = b.input("k" + suffix, {1, keys, 8, 128});
           Value v = b.input("v" + suffix, {1, keys, 8, 128});
           Value s = b.input("s" + suffix, {1}, i32), p = b.input("p" + suffix, {1}, i32);
           // Without the mask every key counts, wherever the inputs say the row is.
           b.output("y" + suffix, b.attention(q, k, v, s, p, {.scale = 0.09, .causal = false}));
         }});
  }
  for (int64_t tokens : {512, 2048})
    for (int64_t size : {64, 128})
      all.push_back({absl::StrFormat("prefill attention 32/8 heads of %d, %d tokens", size, tokens),
                     3, 4.0 * tokens * 40 * size, [=](GraphBuilder& b, int copy) {
                       std::string suffix = std::to_string(copy);
                       mlir::Type i32 =
                           mlir::IntegerType::get(b.getActivationType().getContext(), 32);
                       Value q = b.input("q" + suffix, {tokens, 32, size});
                       Value k = b.input("k" + suffix, {1, tokens, 8, size});
                       Value v = b.input("v" + suffix, {1, tokens, 8, size});
                       Value s = b.input("s" + suffix, {1}, i32);
                       Value p = b.input("positions" + suffix, {tokens}, i32, PortRole::Positions);
                       b.output("y" + suffix, b.attention(q, k, v, s, p, {.scale = 0.09}));
                     }});
  return all;
}

} // namespace
} // namespace tenon

/// Arguments: parts of names; only what has one of them is measured.
int main(int count, char** arguments) {
  std::vector<tenon::Measurement> all;
  for (auto part : {tenon::matmuls, tenon::smallRows, tenon::fusedRows, tenon::others})
    for (tenon::Measurement& measurement : part())
      if (count == 1 || std::any_of(arguments + 1, arguments + count, [&](const char* wanted) {
            return measurement.name.find(wanted) != std::string::npos;
          }))
        all.push_back(std::move(measurement));
  for (const tenon::Measurement& measurement : all) {
    std::string schedule;
    absl::StatusOr<double> ns = tenon::measure(measurement, schedule);
    if (!ns.ok()) {
      std::printf("%-50s %s\n", measurement.name.c_str(), ns.status().ToString().c_str());
      continue;
    }
    std::printf("%-50s %-16s %9.2f us %7.0f GB/s\n", measurement.name.c_str(), schedule.c_str(),
                *ns / 1000, measurement.bytes / *ns);
  }
}
