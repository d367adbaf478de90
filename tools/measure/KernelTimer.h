#ifndef TENON_TOOLS_MEASURE_KERNELTIMER_H
#define TENON_TOOLS_MEASURE_KERNELTIMER_H

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Executor.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/measure/Samples.h"

namespace tenon::tools {

/// What a measurement of kernels obeys.
struct TimerOptions {
  ExecutorOptions executor = {}; ///< with the launch mode that is meant
  int64_t position = 512;        ///< keys before those of decode's rows
  /// What a test puts in place of each sample that was taken.
  std::function<Sample(Sample)> replaceSample = {};
};

/// The time of the kernels of an isolated function, back to back as in the middle of a model's step.
///
/// The steps are repeated in two functions, n and 3n times, in the launch mode of the options: as
/// nodes of one CUDA graph, each started early or not, or one by one. One sample is
///
///     (time of 3n repetitions − time of n) / 2n
///
/// so that what starts and ends a graph does not count. Weights and caches are random values that
/// rotate, beyond what caches hold; what one kernel hands to the next stays where it was, as in a
/// model: four times the cache that all cores share pass before a weight is read again. The result
/// is the median of the samples that no other work has disturbed.
class KernelTimer {
public:
  /// Of `planned`, what `planIsolated` made of `isolated`; compiles and loads it.
  static absl::StatusOr<KernelTimer> create(mlir::ModuleOp isolated, mlir::ModuleOp planned,
                                            const TimerOptions& options);

  /// Of a program of one function for `target`, called with `inputs`, whose steps read `touchedBytes` of
  /// its constants and take about `expectedNs`.
  static absl::StatusOr<KernelTimer> load(runtime::Program program,
                                          std::vector<std::vector<std::byte>> inputs,
                                          TargetAttr target, int64_t touchedBytes,
                                          int64_t expectedNs, const TimerOptions& options);

  /// Runs both functions once, without taking a sample.
  absl::Status warmUp();
  /// Takes one sample.
  absl::Status sample();
  const Samples& samples() const { return taken; }
  int64_t medianNs() const { return taken.medianNs(); }
  int64_t spreadNs() const { return taken.spreadNs(); }

private:
  absl::StatusOr<uint64_t> run(size_t function);

  std::unique_ptr<runtime::Executor> executor;
  int64_t repetitions = 1;
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::function<Sample(Sample)> replaceSample;
  int hostThreads = 0; ///< that work together on a CPU; 0 for another device
  Samples taken;
};

/// Warms each up, then takes samples of each in turn, so that what changes on the device meets all
/// alike, until there are `rounds` of each that can be trusted, see `Samples`. `noiseError` where
/// there are not after eight times as many: then no time of these is to be kept.
absl::Status sampleInTurns(std::vector<KernelTimer*> timers, int64_t rounds);

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_KERNELTIMER_H
