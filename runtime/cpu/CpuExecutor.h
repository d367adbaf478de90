#ifndef TENON_RUNTIME_CPU_CPUEXECUTOR_H
#define TENON_RUNTIME_CPU_CPUEXECUTOR_H

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/StepProfile.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

struct CpuExecutorOptions {
  /// Threads that share each step's tiles; 0 means every core that the process may use
  /// (`usableCores`).
  int threads = 0;
};

/// Runs a Program on this machine's CPU.
///
/// Loading maps the model files, links the objects and resolves every argument of every step to an
/// address. A call then binds its inputs and outputs and runs the steps one after the other, each
/// split over the threads in contiguous ranges of tiles, unless it is too small to be worth it; it
/// allocates nothing. Results do not depend on the number of threads, since tiles are independent.
/// One call runs at a time: another that begins meanwhile fails with FailedPrecondition.
class CpuExecutor final : public Executor {
public:
  /// Validates and loads `program`. Fails where this machine lacks a CPU feature or a model file
  /// differs from the one compiled (FailedPrecondition), where the program is invalid or an object
  /// cannot be linked (InvalidArgument), where memory or threads run out (ResourceExhausted).
  static absl::StatusOr<std::unique_ptr<CpuExecutor>> create(Program program,
                                                             const CpuExecutorOptions& options);

  ~CpuExecutor() override;

  const Program& program() const override;
  absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override;
  absl::Status runObserved(size_t function, std::span<const std::span<const std::byte>> inputs,
                           std::span<const std::span<std::byte>> outputs,
                           StepObserver& observer) override;
  absl::Status resetStates() override;

  int threads() const;

  /// Wall time of the last call's steps.
  uint64_t lastStepsNs() const override;
  /// Collects step times from now on, or stops. Off after loading; starting clears the times.
  void setProfiling(bool enabled) override;
  /// The wall times of `function`'s steps, in their order, barriers included.
  std::span<const StepProfile> profile(size_t function) const override;

private:
  struct Impl;
  explicit CpuExecutor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_CPUEXECUTOR_H
