#include "tools/measure/KernelTimer.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "ir/Dialect.h"
#include "passes/cost/CostModel.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "tools/bench/FunctionInputs.h"
#include "tools/bench/FunctionWork.h"
#include "tools/driver/CompileModel.h"
#include "tools/measure/IsolatedKernels.h"
#include "tools/measure/RepeatKernels.h"

namespace tenon::tools {

/// What the machine says of its own last level; most have less where it says nothing.
static int64_t hostCacheBytes() {
  constexpr int64_t usualBytes = int64_t(64) << 20;
  long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : usualBytes;
}

/// Bytes that no cache of the target's machine holds: four times the cache that all cores share.
static int64_t coldBytesFor(TargetAttr target) {
  int64_t cache = target.getDevice() == DeviceKind::Cpu
                      ? hostCacheBytes()
                      : target.getProperty("l2_bytes").value_or(0);
  return 4 * cache;
}

/// Repetitions of the shorter run: some 100 µs, which a graph's own launch hardly shows in, and few
/// enough that a run of the longest kernels stays below some milliseconds; more where small weights
/// would else come back before the cold bytes have passed, since both runs together read four times
/// as many copies.
static int64_t chooseRepetitions(int64_t expectedNs, int64_t touchedBytes, int64_t coldBytes) {
  constexpr int64_t wantedNs = 150'000, usual = 32, most = 128;
  int64_t timed = std::clamp<int64_t>(wantedNs / std::max<int64_t>(expectedNs, 1), 1, usual);
  int64_t cold = touchedBytes == 0 ? 0 : coldBytes / (4 * touchedBytes) + 1;
  return std::max(timed, std::min(cold, most));
}

/// Bytes of weights and caches that the steps read.
static absl::StatusOr<int64_t> countTouched(mlir::ModuleOp planned, int64_t position) {
  TENON_ASSIGN_OR_RETURN(std::vector<StepWork> work,
                         computeWork(planned, isolatedFunction, position));
  std::vector<bool> hasCache;
  planned.walk([&](KernelOp kernel) {
    hasCache.push_back(llvm::any_of(kernel.getInputs().getTypes(), llvm::IsaPred<StateType>));
  });
  int64_t bytes = 0;
  for (auto [step, cached] : llvm::zip_equal(work, hasCache))
    bytes += step.weightBytes + (cached ? step.otherBytes : 0);
  return bytes;
}

/// What the cost model says that one repetition takes, in ns.
static absl::StatusOr<int64_t> predictNs(mlir::ModuleOp planned, TargetAttr target) {
  DiagnosticCollector diagnostics(planned.getContext());
  auto model =
      passes::cost::CostModel::create(planned.getLoc(), target, passes::cost::LaunchMode::Graph);
  if (mlir::failed(model))
    return diagnostics.takeStatus();
  int64_t ns = 0;
  planned.walk([&](KernelOp kernel) { ns += model->estimate(kernel).ns; });
  return ns;
}

absl::StatusOr<KernelTimer> KernelTimer::create(mlir::ModuleOp isolated, mlir::ModuleOp planned,
                                                const TimerOptions& options) {
  auto target = planned->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compileModel(planned, target));
  TENON_ASSIGN_OR_RETURN(int64_t expectedNs, predictNs(planned, target));
  TENON_ASSIGN_OR_RETURN(int64_t touchedBytes, countTouched(planned, options.position));
  return load(std::move(program), makeFunctionInputs(isolatedBody(isolated), options.position),
              target, touchedBytes, expectedNs, options);
}

absl::StatusOr<KernelTimer> KernelTimer::load(runtime::Program program,
                                              std::vector<std::vector<std::byte>> inputs,
                                              TargetAttr target, int64_t touchedBytes,
                                              int64_t expectedNs, const TimerOptions& options) {
  KernelTimer timer;
  timer.replaceSample = options.replaceSample;
  if (target.getDevice() == DeviceKind::Cpu)
    timer.hostThreads = options.executor.threads > 0
                            ? options.executor.threads
                            : static_cast<int>(std::thread::hardware_concurrency());
  timer.repetitions = chooseRepetitions(expectedNs, touchedBytes, coldBytesFor(target));
  TENON_ASSIGN_OR_RETURN(program,
                         repeatKernels(std::move(program), {.repetitions = timer.repetitions,
                                                            .touchedBytes = touchedBytes,
                                                            .coldBytes = coldBytesFor(target)}));
  for (const runtime::Port& port : program.functions[ShortRun].outputs)
    timer.outputs.emplace_back(port.bytes);
  timer.inputs = std::move(inputs);
  TENON_ASSIGN_OR_RETURN(timer.executor, makeExecutor(std::move(program), options.executor));
  return timer;
}

absl::StatusOr<uint64_t> KernelTimer::run(size_t function) {
  std::vector<std::span<const std::byte>> arguments(inputs.begin(), inputs.end());
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor->run(function, arguments, results));
  return executor->lastStepsNs();
}

absl::Status KernelTimer::warmUp() {
  for (size_t function : {ShortRun, LongRun})
    TENON_RETURN_IF_ERROR(run(function).status());
  return absl::OkStatus();
}

absl::Status KernelTimer::sample() {
  HostWatch watch;
  TENON_ASSIGN_OR_RETURN(uint64_t shortNs, run(ShortRun));
  TENON_ASSIGN_OR_RETURN(uint64_t longNs, run(LongRun));
  Sample sample{.ns = (static_cast<double>(longNs) - static_cast<double>(shortNs)) /
                      (2.0 * static_cast<double>(repetitions)),
                .isDisturbed = hostThreads > 0 && watch.wasDisturbed(hostThreads)};
  taken.add(replaceSample ? replaceSample(sample) : sample);
  return absl::OkStatus();
}

absl::Status sampleInTurns(std::vector<KernelTimer*> timers, int64_t rounds) {
  for (KernelTimer* timer : timers)
    TENON_RETURN_IF_ERROR(timer->warmUp());
  constexpr int attempts = 8;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    for (int64_t round = 0; round < rounds; ++round)
      for (KernelTimer* timer : timers)
        TENON_RETURN_IF_ERROR(timer->sample());
    if (std::ranges::all_of(
            timers, [&](KernelTimer* timer) { return timer->samples().areTrusted(rounds); }))
      return absl::OkStatus();
  }
  return noiseError("the time of a kernel");
}

} // namespace tenon::tools
