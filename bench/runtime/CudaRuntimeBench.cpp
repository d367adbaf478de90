// What the CUDA runtime itself costs: a step, a call, the upload of weights.
#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>

#include "emptyCubin.h"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/program/DescribeKernels.h"
#include "support/Fingerprint.h"
#include "support/MappedFile.h"

namespace tenon::runtime {
namespace {

SharedBytes cubin() {
  auto view = std::as_bytes(std::span(emptyCubin));
  return std::vector<std::byte>(view.begin(), view.end());
}

/// A program whose one function launches an empty kernel `steps` times.
Program emptySteps(int64_t steps, int64_t blocks, bool pdl) {
  Program program;
  program.device = "cuda";
  program.code = {cubin()};
  program.kernels = {{pdl ? "emptyDependent" : "empty", 0, CudaLaunch{256, 0, pdl}}};
  program.functions = {
      {"empty", Role::Other, 0, {}, {}, std::vector<Step>(steps, Step{0, blocks, {}, "empty"})}};
  describeKernelsBySteps(program);
  return program;
}

enum Mode : int64_t { Stream, Graph, GraphPdl };

/// Device time of one of 1,000 empty steps. Arguments: the mode, the blocks.
void emptyStep(benchmark::State& state) {
  constexpr int64_t steps = 1000;
  auto executor =
      CudaExecutor::create(emptySteps(steps, state.range(1), state.range(0) == GraphPdl),
                           {.graphs = state.range(0) != Stream});
  if (!executor.ok())
    return state.SkipWithError(std::string(executor.status().message()).c_str());
  if (absl::Status status = (*executor)->run(0, {}, {}); !status.ok())
    return state.SkipWithError(std::string(status.message()).c_str());
  for (auto _ : state) {
    static_cast<void>((*executor)->run(0, {}, {}));
    state.SetIterationTime(static_cast<double>((*executor)->lastStepsNs()) * 1e-9 / steps);
  }
}
BENCHMARK(emptyStep)
    ->ArgsProduct({{Stream, Graph, GraphPdl}, {1, 132, 1056}})
    ->Iterations(50)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

/// Wall time of a call of one empty step with an input and an output of range(0) bytes.
void call(benchmark::State& state) {
  Program program = emptySteps(1, 1, false);
  program.encodings = {{"i8", 1, 1}};
  auto bytes = static_cast<uint64_t>(state.range(0));
  Port port{"x", "i8", {state.range(0)}, bytes};
  program.functions[0].inputs = program.functions[0].outputs = {port};
  auto executor = CudaExecutor::create(program, {});
  if (!executor.ok())
    return state.SkipWithError(std::string(executor.status().message()).c_str());
  std::vector<std::byte> x(bytes), y(bytes);
  std::span<const std::byte> inputs[] = {x};
  std::span<std::byte> outputs[] = {y};
  for (auto _ : state)
    static_cast<void>((*executor)->run(0, inputs, outputs));
}
BENCHMARK(call)->Arg(16)->Arg(512 << 10)->Iterations(200)->UseRealTime();

/// Loading a program whose weights are a file of range(0) MiB in the page cache: wall time of the
/// load, and bytes a second of the upload alone.
void loadFile(benchmark::State& state) {
  uint64_t bytes = static_cast<uint64_t>(state.range(0)) << 20;
  std::string path = (std::filesystem::temp_directory_path() / "tenon-upload.bin").string();
  std::vector<char> chunk(1 << 20, 'x');
  std::ofstream file(path, std::ios::binary);
  for (uint64_t written = 0; written < bytes; written += chunk.size())
    file.write(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  file.close();
  Program program;
  program.device = "cuda";
  program.encodings = {{"i8", 1, 1}};
  program.files = {{path, bytes, fingerprintFile((*MappedFile::open(path))->bytes())}};
  auto extent = static_cast<int64_t>(bytes);
  program.constants = {{"w", "i8", {extent}, bytes, std::vector<FileRange>{{0, 0, bytes}}}};
  for (auto _ : state) {
    auto executor = CudaExecutor::create(program, {});
    if (!executor.ok()) {
      state.SkipWithError(std::string(executor.status().message()).c_str());
      break;
    }
    state.counters["uploadGBs"] = static_cast<double>((*executor)->loadTimes().uploadedBytes) /
                                  static_cast<double>((*executor)->loadTimes().uploadNs);
  }
  std::filesystem::remove(path);
}
BENCHMARK(loadFile)->Arg(64)->Arg(4096)->Iterations(3)->UseRealTime()->Unit(
    benchmark::kMillisecond);

/// Loading range(0) MiB of random weights.
void loadRandom(benchmark::State& state) {
  uint64_t bytes = static_cast<uint64_t>(state.range(0)) << 20;
  Program program;
  program.device = "cuda";
  program.encodings = {{"bf16", 1, 2}};
  program.constants = {{"w",
                        "bf16",
                        {static_cast<int64_t>(bytes / 2)},
                        bytes,
                        std::vector<RandomRange>{{bytes, 1, 0.0f, 0.02f}}}};
  for (auto _ : state)
    if (auto executor = CudaExecutor::create(program, {}); !executor.ok()) {
      state.SkipWithError(std::string(executor.status().message()).c_str());
      break;
    }
}
BENCHMARK(loadRandom)->Arg(15'360)->Iterations(2)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace tenon::runtime
