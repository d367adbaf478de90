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
};

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
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, {.target = findTarget(&context, "h200")}));
  module->walk([&](KernelOp kernel) { schedule = kernel.getScheduleAttr().getEmitter().str(); });
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCuda(*module, {}));
  // Weights that are constant: made on the device, and on their way before a kernel's turn.
  for (runtime::Constant& constant : program.constants)
    constant.source = std::vector<runtime::RandomRange>{{constant.bytes, 1, 0, 1}};
  program.files.clear();
  TENON_ASSIGN_OR_RETURN(auto executor, runtime::CudaExecutor::create(std::move(program), {}));
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  const runtime::Function& function = executor->program().functions[0];
  storage.reserve(function.inputs.size() + function.outputs.size());
  for (const runtime::Port& port : function.inputs)
    inputs.push_back(storage.emplace_back(port.bytes));
  for (const runtime::Port& port : function.outputs)
    outputs.push_back(storage.emplace_back(port.bytes));
  double best = 1e30;
  for (int call = 0; call < calls; ++call) {
    TENON_RETURN_IF_ERROR(executor->run(0, inputs, outputs));
    best = std::min(best, double(executor->lastStepsNs()) / measurement.copies);
  }
  return best;
}

std::vector<Measurement> matmuls() {
  std::vector<Measurement> all;
  struct Shape {
    int64_t rows, columns, depth;
  };
  for (const char* encoding : {"f16", "q8_0", "q4_0"})
    for (const Shape& s : {Shape{1, 2048, 2048},
                           {1, 3072, 2048},
                           {1, 16384, 2048},
                           {1, 2048, 8192},
                           {1, 4096, 4096},
                           {1, 28672, 4096},
                           {1, 4096, 14336},
                           {1, 128256, 2048},
                           {4, 6144, 4096},
                           {16, 6144, 4096},
                           {512, 6144, 4096},
                           {2048, 4096, 4096}}) {
      const Encoding* type = findEncoding(encoding);
      if (s.rows > 16 && type->isBlockQuantized())
        continue;
      double bytes = type->bytesFor(s.columns * s.depth);
      int copies = std::clamp<int>(4e8 / bytes, 3, 24);
      all.push_back({absl::StrFormat("matmul %s %dx%dx%d", encoding, s.rows, s.columns, s.depth),
                     copies, bytes,
                     [s, type](GraphBuilder& b, int copy) {
                       std::string suffix = std::to_string(copy);
                       mlir::Type element =
                           getElementType(b.getActivationType().getContext(), *type);
                       Value x = b.input("x" + suffix, {s.rows, s.depth});
                       Value w = type->isBlockQuantized()
                                     ? b.input("w" + suffix, {s.columns, s.depth}, element)
                                     : b.weight("w" + suffix);
                       b.output("y" + suffix, b.matmul(x, w));
                     },
                     [s, type](GraphBuilder& b, int copy) {
                       if (type->isBlockQuantized())
                         return;
                       std::string suffix = std::to_string(copy);
                       int64_t bytes = type->bytesFor(s.columns * s.depth);
                       b.declareFile("m" + suffix, "unused", bytes, 0);
                       b.declareWeight("w" + suffix, {s.columns, s.depth},
                                       getElementType(b.getActivationType().getContext(), *type),
                                       {{"m" + suffix, 0, bytes}});
                     }});
    }
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
  return all;
}

} // namespace
} // namespace tenon

int main() {
  std::vector<tenon::Measurement> all = tenon::matmuls();
  for (tenon::Measurement& other : tenon::others())
    all.push_back(std::move(other));
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
