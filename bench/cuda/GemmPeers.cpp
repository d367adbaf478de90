// Times Tenon's own GEMM of many rows beside every implementation that cuBLASLt's heuristics name, in
// bf16, for the GEMMs of three models: one JSON object a line,
//
//     {"gemm": "512x6144x4096", "glu": false, "schedule": "hopper_gemm", "us": 41.2,
//      "library_us": 39.9, "library_first_us": 40.3, "library_candidates": 8, "speed": 0.968}
//
// and then the geometric mean and the least of `speed`, cuBLASLt's best time over Tenon's. Each side
// is a CUDA graph of copies on weights of their own, 400 MB of them or more, so that these come from
// memory; values are random, x from N(0, 1), weights from N(0, 1/K); sides take turns, and times are
// medians. With SwiGLU inside Tenon's GEMM, cuBLASLt's time is that of gate and up in one GEMM and of an
// elementwise kernel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <ranges>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/builder/GraphBuilder.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "nlohmann/json.hpp"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/internal/CaptureGraph.h"
#include "runtime/cuda/internal/CublasLt.h"
#include "support/Status.h"

namespace tenon {
namespace {

using frontends::GraphBuilder;
using frontends::Value;
using namespace runtime::internal;

struct Options {
  std::vector<int64_t> rows = {64, 128, 256, 512, 1024, 2048, 4096};
  std::string only, target = "h200";
  int calls = 9, candidates = 64;
};

/// y = x · Wᵀ; or of W [columns, depth], gate and up, one above the other, y = silu(gate) · up.
struct Gemm {
  int64_t rows, columns, depth;
  bool glu;

  std::string name() const { return absl::StrFormat("%dx%dx%d", rows, columns, depth); }
  int64_t weightBytes() const { return 2 * columns * depth; }
  int copies() const {
    return static_cast<int>(std::clamp<int64_t>(400'000'000 / weightBytes(), 3, 24));
  }
};

/// Bytes of bf16 values from N(0, 1) · `scale`: runs of some values, from random places on.
class NormalValues {
public:
  explicit NormalValues(float scale) : pool(size_t(1) << 22) {
    std::normal_distribution<float> normal(0, scale);
    for (uint16_t& value : pool)
      value = static_cast<uint16_t>(std::bit_cast<uint32_t>(normal(random)) >> 16);
  }
  std::vector<std::byte> take(uint64_t bytes) {
    std::vector<std::byte> values(bytes);
    for (uint64_t done = 0, run = 0; done < bytes; done += run) {
      size_t first = random() % (pool.size() / 2);
      run = std::min<uint64_t>(bytes - done, 2 * (pool.size() - first));
      std::memcpy(&values[done], &pool[first], run);
    }
    return values;
  }

private:
  std::mt19937_64 random{1};
  std::vector<uint16_t> pool;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

/// A function of copies, which Tenon compiled.
class TenonSide {
public:
  using Build = std::function<void(GraphBuilder&, int copy)>;

  static absl::StatusOr<TenonSide> create(const Build& declare, const Build& build, int copies,
                                          const Options& options, NormalValues& x,
                                          NormalValues& weights) {
    TenonSide side;
    side.copies = copies;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<TenonDialect>();
    GraphBuilder builder(context, mlir::BFloat16Type::get(&context));
    for (int copy = 0; copy < copies; ++copy)
      declare(builder, copy);
    builder.beginFunction("f");
    for (int copy = 0; copy < copies; ++copy)
      build(builder, copy);
    builder.endFunction();
    TENON_ASSIGN_OR_RETURN(auto module, builder.finish());
    passes::PipelineOptions pipeline = {.target = findTarget(&context, options.target)};
    pipeline.fusion.plan = passes::Plan::Fused;
    pipeline.fusion.libraries = false;
    TENON_RETURN_IF_ERROR(passes::runPipeline(*module, pipeline));
    module->walk(
        [&](KernelOp kernel) { side.schedule = kernel.getScheduleAttr().getEmitter().str(); });
    TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCuda(*module, {}));
    for (runtime::Constant& constant : program.constants)
      constant.source = runtime::SharedBytes(weights.take(constant.bytes));
    program.files.clear();
    TENON_ASSIGN_OR_RETURN(side.executor, runtime::CudaExecutor::create(std::move(program), {}));
    const runtime::Function& function = side.executor->program().functions.front();
    std::vector<std::vector<std::byte>> values;
    for (const runtime::Port& port : function.inputs)
      values.push_back(x.take(port.bytes));
    for (const runtime::Port& port : function.outputs)
      values.emplace_back(port.bytes);
    std::vector<std::span<const std::byte>> inputs(values.begin(),
                                                   values.begin() + function.inputs.size());
    std::vector<std::span<std::byte>> outputs(values.begin() + function.inputs.size(),
                                              values.end());
    TENON_RETURN_IF_ERROR(side.executor->run(0, inputs, outputs));
    return side;
  }

  absl::Status time() {
    TENON_RETURN_IF_ERROR(executor->repeatSteps(0, /*times=*/2));
    samples.push_back(static_cast<double>(executor->lastStepsNs()) / copies / 1e3);
    return absl::OkStatus();
  }
  double us() const { return median(samples); }

  std::string schedule;

private:
  std::unique_ptr<runtime::CudaExecutor> executor;
  std::vector<double> samples;
  int copies = 0;
};

TenonSide::Build declaring(const Gemm& gemm, std::vector<std::string> names) {
  return [=](GraphBuilder& b, int copy) {
    int64_t bytes = gemm.weightBytes() / static_cast<int64_t>(names.size());
    for (const std::string& name : names) {
      std::string own = name + std::to_string(copy);
      b.declareFile("file of " + own, "unused", bytes, 0);
      b.declareWeight(own, {gemm.columns / static_cast<int64_t>(names.size()), gemm.depth},
                      b.getActivationType(), {{"file of " + own, 0, bytes}});
    }
  };
}

absl::StatusOr<TenonSide> makeTenon(const Gemm& gemm, const Options& options, NormalValues& x,
                                    NormalValues& weights) {
  TenonSide::Build build = [&](GraphBuilder& b, int copy) {
    std::string suffix = std::to_string(copy);
    Value input = b.input("x" + suffix, {gemm.rows, gemm.depth});
    b.output("y" + suffix, gemm.glu
                               ? b.glu(Activation::Silu, b.matmul(input, b.weight("gate" + suffix)),
                                       b.matmul(input, b.weight("up" + suffix)))
                               : b.matmul(input, b.weight("w" + suffix)));
  };
  std::vector<std::string> names = {"w"};
  if (gemm.glu)
    names = {"gate", "up"};
  return TenonSide::create(declaring(gemm, names), build, gemm.copies(), options, x, weights);
}

/// The elementwise kernel after a library's GEMM.
absl::StatusOr<TenonSide> makeGlu(const Gemm& gemm, const Options& options, NormalValues& x) {
  TenonSide::Build build = [&](GraphBuilder& b, int copy) {
    std::string suffix = std::to_string(copy);
    auto input = [&](const char* name) {
      return b.input(name + suffix, {gemm.rows, gemm.columns / 2});
    };
    b.output("y" + suffix, b.glu(Activation::Silu, input("gate"), input("up")));
  };
  return TenonSide::create([](GraphBuilder&, int) {}, build, /*copies=*/3, options, x, x);
}

/// cuBLASLt's implementations, each a graph of copies.
class LibrarySide {
public:
  static absl::StatusOr<LibrarySide> create(const Device& device, const CublasLt& library,
                                            const Gemm& gemm, const Options& options,
                                            NormalValues& x, NormalValues& weights) {
    LibrarySide side(device);
    side.copies = gemm.copies();
    TENON_ASSIGN_OR_RETURN(side.stream, device.createStream());
    TENON_ASSIGN_OR_RETURN(side.begin, device.createEvent(/*timed=*/true));
    TENON_ASSIGN_OR_RETURN(side.end, device.createEvent(/*timed=*/true));
    TENON_RETURN_IF_ERROR(side.bring(x.take(2 * gemm.rows * gemm.depth)));
    TENON_RETURN_IF_ERROR(
        side.bring(std::vector<std::byte>(static_cast<size_t>(2 * gemm.rows * gemm.columns))));
    for (int copy = 0; copy < side.copies; ++copy)
      TENON_RETURN_IF_ERROR(side.bring(weights.take(static_cast<uint64_t>(gemm.weightBytes()))));
    constexpr uint64_t workspaceBytes = 64 << 20;
    TENON_ASSIGN_OR_RETURN(side.workspace, device.allocate(workspaceBytes, "a workspace"));
    runtime::LibraryMatmul matmul = {.m = gemm.rows,
                                     .n = gemm.columns,
                                     .k = gemm.depth,
                                     .input = runtime::MatmulType::Bf16,
                                     .output = runtime::MatmulType::Bf16,
                                     .workspaceBytes = workspaceBytes};
    auto operands = [&](int copy) {
      return MatmulOperands{side.memory[0].get(), side.memory[2 + copy].get(),
                            side.memory[1].get()};
    };
    TENON_ASSIGN_OR_RETURN(
        std::vector<MatmulPlan> plans,
        MatmulPlan::candidates(library, matmul, operands(0), options.candidates));
    for (const MatmulPlan& plan : plans) {
      TENON_ASSIGN_OR_RETURN(
          GraphExecutable graph,
          captureGraph(device.driver(), side.stream.get(), [&]() -> absl::Status {
            for (int copy = 0; copy < side.copies; ++copy)
              TENON_RETURN_IF_ERROR(
                  plan.enqueue(operands(copy), side.workspace.get(), side.stream.get()));
            return absl::OkStatus();
          }));
      side.graphs.push_back(std::move(graph));
    }
    side.samples.resize(side.graphs.size());
    return side;
  }

  size_t candidates() const { return graphs.size(); }
  /// Of implementation `index`, after a call that does not count.
  absl::Status time(size_t index) {
    const Driver& driver = device->driver();
    for (int call = 0; call < 2; ++call) {
      TENON_RETURN_IF_ERROR(
          driver.check(driver.eventRecordWithFlags(begin.get(), stream.get(), 0), "time a GEMM"));
      TENON_RETURN_IF_ERROR(
          driver.check(driver.graphLaunch(graphs[index].get(), stream.get()), "time a GEMM"));
      TENON_RETURN_IF_ERROR(
          driver.check(driver.eventRecordWithFlags(end.get(), stream.get(), 0), "time a GEMM"));
    }
    TENON_RETURN_IF_ERROR(driver.check(driver.eventSynchronize(end.get()), "time a GEMM"));
    float ms = 0;
    TENON_RETURN_IF_ERROR(
        driver.check(driver.eventElapsedTime(&ms, begin.get(), end.get()), "time a GEMM"));
    samples[index].push_back(1e3 * ms / copies);
    return absl::OkStatus();
  }
  double us(size_t index) const { return median(samples[index]); }
  /// Leaves the `most` fastest and the first one.
  void keepFastest(size_t most) {
    std::vector<size_t> order(graphs.size());
    std::ranges::iota_view<size_t, size_t> all(0, graphs.size());
    std::ranges::copy(all, order.begin());
    std::ranges::sort(order.begin() + 1, order.end(), {}, [&](size_t i) { return us(i); });
    order.resize(std::min(order.size(), most + 1));
    std::vector<GraphExecutable> kept;
    for (size_t index : order)
      kept.push_back(std::move(graphs[index]));
    graphs = std::move(kept);
    samples.assign(graphs.size(), {});
  }

private:
  explicit LibrarySide(const Device& device) : device(&device) {}

  absl::Status bring(const std::vector<std::byte>& values) {
    const Driver& driver = device->driver();
    TENON_ASSIGN_OR_RETURN(DeviceMemory target, device->allocate(values.size(), "a matrix"));
    TENON_RETURN_IF_ERROR(driver.check(
        driver.memcpyHtoDAsync(target.get(), values.data(), values.size(), stream.get()),
        "copy a matrix"));
    TENON_RETURN_IF_ERROR(driver.check(driver.streamSynchronize(stream.get()), "copy a matrix"));
    memory.push_back(std::move(target));
    return absl::OkStatus();
  }

  const Device* device;
  Stream stream;
  Event begin, end;
  std::vector<DeviceMemory> memory; ///< x, y, weights
  DeviceMemory workspace;
  std::vector<GraphExecutable> graphs;
  std::vector<std::vector<double>> samples; ///< µs a copy, of each graph
  int copies = 0;
};

absl::StatusOr<nlohmann::json> measure(const Device& device, const CublasLt& library,
                                       const Gemm& gemm, const Options& options) {
  constexpr int trials = 3;
  constexpr size_t fastest = 4;
  NormalValues x(1), weights(1 / std::sqrt(static_cast<float>(gemm.depth)));
  TENON_ASSIGN_OR_RETURN(TenonSide own, makeTenon(gemm, options, x, weights));
  TENON_ASSIGN_OR_RETURN(LibrarySide peer,
                         LibrarySide::create(device, library, gemm, options, x, weights));
  std::optional<TenonSide> elementwise;
  if (gemm.glu) {
    TENON_ASSIGN_OR_RETURN(elementwise, makeGlu(gemm, options, x));
  }
  size_t candidates = peer.candidates();
  auto timeAll = [&]() -> absl::Status {
    for (size_t index = 0; index < peer.candidates(); ++index)
      TENON_RETURN_IF_ERROR(peer.time(index));
    return absl::OkStatus();
  };
  for (int trial = 0; trial < trials; ++trial)
    TENON_RETURN_IF_ERROR(timeAll());
  peer.keepFastest(fastest);
  for (int call = 0; call < options.calls; ++call) {
    TENON_RETURN_IF_ERROR(own.time());
    TENON_RETURN_IF_ERROR(timeAll());
    if (elementwise)
      TENON_RETURN_IF_ERROR(elementwise->time());
  }
  double best = peer.us(0);
  for (size_t index = 1; index < peer.candidates(); ++index)
    best = std::min(best, peer.us(index));
  double after = elementwise ? elementwise->us() : 0;
  return nlohmann::json{{"gemm", gemm.name()},
                        {"glu", gemm.glu},
                        {"schedule", own.schedule},
                        {"us", own.us()},
                        {"library_us", best + after},
                        {"library_first_us", peer.us(0) + after},
                        {"library_candidates", candidates},
                        {"speed", (best + after) / own.us()}};
}

/// Q, K and V, attention's output, gate and up or up, and down of Llama-3.2-1B, Llama-3.1-8B and
/// Pythia-2.8B.
std::vector<Gemm> gemms(const Options& options) {
  std::vector<Gemm> all;
  for (int64_t rows : options.rows) {
    for (auto [columns, depth] : {std::pair<int64_t, int64_t>{3072, 2048},
                                  {2048, 2048},
                                  {16384, 2048},
                                  {2048, 8192},
                                  {6144, 4096},
                                  {4096, 4096},
                                  {28672, 4096},
                                  {4096, 14336},
                                  {7680, 2560},
                                  {2560, 2560},
                                  {10240, 2560},
                                  {2560, 10240}})
      all.push_back({rows, columns, depth, /*glu=*/false});
    for (auto [columns, depth] : {std::pair<int64_t, int64_t>{16384, 2048}, {28672, 4096}})
      all.push_back({rows, columns, depth, /*glu=*/true});
  }
  return all;
}

void summarize(const std::map<std::string, std::vector<double>>& speeds) {
  for (const auto& [name, values] : speeds) {
    double logs = 0;
    for (double value : values)
      logs += std::log(value);
    std::printf("%-24s geometric mean %.3f, least %.3f, of %zu\n", name.c_str(),
                std::exp(logs / static_cast<double>(values.size())), std::ranges::min(values),
                values.size());
  }
}

absl::Status measureAll(const Options& options) {
  TENON_ASSIGN_OR_RETURN(const Driver* driver, Driver::get());
  TENON_ASSIGN_OR_RETURN(Device device, Device::open(*driver, 0));
  TENON_ASSIGN_OR_RETURN(CublasLt library, CublasLt::open(CublasLt::defaultPaths()));
  std::map<std::string, std::vector<double>> speeds;
  for (const Gemm& gemm : gemms(options)) {
    if (gemm.name().find(options.only) == std::string::npos)
      continue;
    TENON_ASSIGN_OR_RETURN(nlohmann::json measured, measure(device, library, gemm, options));
    std::cout << measured.dump() << std::endl;
    const char* kind = gemm.glu ? "SwiGLU" : "GEMM";
    speeds[kind].push_back(measured["speed"]);
    speeds[absl::StrFormat("%s, %4d rows", kind, gemm.rows)].push_back(measured["speed"]);
  }
  summarize(speeds);
  return absl::OkStatus();
}

} // namespace
} // namespace tenon

int main(int count, char** arguments) {
  tenon::Options options;
  CLI::App app("Times Tenon's GEMM of many rows beside cuBLASLt's implementations");
  app.add_option("--rows", options.rows, "Rows of x")->delimiter(',')->capture_default_str();
  app.add_option("--only", options.only, "Part of the names of the GEMMs wanted");
  app.add_option("--target", options.target, "What to compile for")->capture_default_str();
  app.add_option("--calls", options.calls, "Calls of each side that count")->capture_default_str();
  app.add_option("--candidates", options.candidates, "Most implementations of cuBLASLt")
      ->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  absl::Status status = tenon::measureAll(options);
  if (!status.ok())
    std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
