// Decode of a model on the CPU beside the machine's read bandwidth, alternated in one run:
//
//   tenon random-model llama-3.2-1b --type q8_0 -o /tmp/1b-q8_0.gguf
//   bench_cpu_decode --model=/tmp/1b-q8_0.gguf
//
// Each row is a median over steps of real token-by-token decode (greedy token of the step before)
// from position 64 on; `read_GBps` is the median of reads of a 1 GiB buffer between the steps.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/cpu/ReadBandwidth.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"

namespace tenon::bench {

namespace {

constexpr int64_t firstPosition = 64;
constexpr int stepsPerRead = 4;

double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Bytes of weights that one call of `function` reads.
int64_t countWeightBytes(mlir::ModuleOp module, llvm::StringRef function) {
  int64_t bytes = 0;
  auto body = module.lookupSymbol<mlir::func::FuncOp>(function);
  body.walk([&](KernelOp kernel) {
    kernel.walk([&](ComputeOpInterface op) {
      Work work = op.getWork();
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        auto argument = llvm::dyn_cast<mlir::BlockArgument>(operand);
        if (argument && kernel.getInputs()[argument.getArgNumber()].getDefiningOp<GetWeightOp>())
          bytes += work.operandBytes[index];
      }
    });
  });
  return bytes;
}

struct Model {
  std::unique_ptr<runtime::CpuExecutor> executor;
  size_t function;
  int64_t vocabulary;
  int64_t weightBytes;
};

absl::StatusOr<Model> loadModel(const std::string& path, int threads) {
  auto context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(
      auto module,
      tools::readModel(*context, {.path = path, .shapes = {"decode:1"}, .contextLength = 1024}));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "native"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target));
  Model model;
  model.function = 0;
  model.vocabulary = program.model->vocabulary;
  model.weightBytes = countWeightBytes(*module, program.functions[0].name);
  TENON_ASSIGN_OR_RETURN(model.executor,
                         runtime::CpuExecutor::create(std::move(program), {.threads = threads}));
  return model;
}

/// One decode step; returns the greedy token.
absl::StatusOr<int32_t> decodeStep(Model& model, int32_t id, int32_t position,
                                   std::vector<float>& logits) {
  int32_t sequence = 0;
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(&id, 1)),
                                               std::as_bytes(std::span(&sequence, 1)),
                                               std::as_bytes(std::span(&position, 1))};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(logits))};
  TENON_RETURN_IF_ERROR(model.executor->run(model.function, inputs, outputs));
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

void benchDecode(benchmark::State& state, Model& model, ReadBandwidth& bandwidth) {
  std::vector<float> logits(model.vocabulary);
  std::vector<double> steps, reads;
  int32_t token = 1, position = 0;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    absl::StatusOr<int32_t> next = decodeStep(model, token, position, logits);
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!next.ok())
      return state.SkipWithError(std::string(next.status().message()).c_str());
    state.SetIterationTime(seconds);
    if (position >= firstPosition)
      steps.push_back(seconds);
    if (position % stepsPerRead == 0)
      reads.push_back(bandwidth.measureSeconds());
    token = *next;
    position = (position + 1) % 1024;
  }
  if (steps.empty() || reads.empty())
    return state.SkipWithError("expects more than 64 iterations");
  double decode = static_cast<double>(model.weightBytes) / median(steps) / 1e9;
  double read = static_cast<double>(bandwidth.bytes()) / median(reads) / 1e9;
  state.counters["median_ms"] = median(steps) * 1e3;
  state.counters["tokens_per_s"] = 1 / median(steps);
  state.counters["weight_GB"] = static_cast<double>(model.weightBytes) / 1e9;
  state.counters["decode_GBps"] = decode;
  state.counters["read_GBps"] = read;
  state.counters["percent_of_read"] = 100 * decode / read;
}

absl::Status runBenchmarks(const std::vector<std::string>& paths) {
  int threads = runtime::usableCores();
  TENON_ASSIGN_OR_RETURN(auto pool, runtime::ThreadPool::create(threads));
  ReadBandwidth bandwidth(size_t(1) << 30, std::move(pool));
  std::vector<Model> models;
  models.reserve(paths.size());
  for (const std::string& path : paths) {
    TENON_ASSIGN_OR_RETURN(models.emplace_back(), loadModel(path, threads));
    benchmark::RegisterBenchmark(("decode/" + path).c_str(),
                                 [&model = models.back(), &bandwidth](benchmark::State& state) {
                                   benchDecode(state, model, bandwidth);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(192);
  }
  benchmark::RunSpecifiedBenchmarks();
  return absl::OkStatus();
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--model=", 0) == 0)
      paths.push_back(argument.substr(8));
    else
      rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data()) || paths.empty()) {
    std::cerr << "usage: bench_cpu_decode --model=FILE.gguf [--model=…] [--benchmark_…]\n";
    return 2;
  }
  absl::Status status = tenon::bench::runBenchmarks(paths);
  if (!status.ok())
    std::cerr << "bench_cpu_decode: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
