#ifndef TENON_RUNTIME_CUDA_CUDAEXECUTOR_H
#define TENON_RUNTIME_CUDA_CUDAEXECUTOR_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/StepProfile.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

namespace internal {
struct Driver;
} // namespace internal

struct CudaExecutorOptions {
  int device = 0; ///< number of the GPU, as the driver counts them
  /// Replays a call as a CUDA graph, which the function's first call builds, instead of launching
  /// step by step: a step takes 0.5 instead of 2.5 µs where it does nothing (H200, CUDA 13.0).
  bool graphs = true;
  /// Lets steps start before the one before has ended, where the program allows it
  /// (`CudaLaunch::pdl`).
  bool dependentLaunches = true;
  /// Waits after every step, so that the error of a faulty kernel names its step. Without graphs.
  bool checkSteps = false;
  /// Where CUPTI is looked for, which counts what memory moves; empty: in its usual places.
  std::vector<std::string> counterPaths = {};
};

/// Bytes of device memory that a program takes.
struct CudaMemoryUse {
  uint64_t constantBytes = 0;
  uint64_t stateBytes = 0;
  uint64_t workspaceBytes = 0;
  uint64_t portBytes = 0;    ///< inputs and outputs of the function with most
  uint64_t libraryBytes = 0; ///< the largest workspace that a library's routine may use

  uint64_t totalBytes() const {
    return constantBytes + stateBytes + workspaceBytes + portBytes + libraryBytes;
  }
};

/// What loading the constants took.
struct CudaLoadTimes {
  uint64_t uploadedBytes = 0;
  uint64_t uploadNs = 0; ///< from the first byte read to the last on the device
  uint64_t randomBytes = 0;
};

/// Runs a Program on an NVIDIA GPU. Nothing is linked against CUDA: the driver (and cuBLASLt, if
/// the program uses it) is opened when an executor is created.
///
/// Loading uploads the constants and resolves every argument of every step to a device address;
/// these never change, so that a graph of a function's steps stays right for as long as the
/// executor lives. A call copies its inputs to their place on the device, runs the steps on one
/// stream, and fetches the outputs. What varies between calls (tokens, positions) is read from
/// device memory.
class CudaExecutor final : public Executor {
public:
  /// Validates and loads `program`. NotFound where there is no driver or no such device,
  /// FailedPrecondition where the driver is too old, the code is for another kind of device or a
  /// model file differs from the one compiled, InvalidArgument where the program is invalid or asks
  /// for more threads or shared memory than a block can have, ResourceExhausted where memory runs
  /// out, saying what was asked for what and what is free.
  static absl::StatusOr<std::unique_ptr<CudaExecutor>> create(Program program,
                                                              const CudaExecutorOptions& options);
  /// The same on a given driver, which outlives the executor.
  static absl::StatusOr<std::unique_ptr<CudaExecutor>>
  createOn(const internal::Driver& driver, Program program, const CudaExecutorOptions& options);

  ~CudaExecutor() override;

  const Program& program() const override;
  /// Errors name the step, its kernel, its launch and the CUDA error. After a kernel's fault the
  /// device refuses every further call of the process.
  absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override;
  absl::Status runObserved(size_t function, std::span<const std::span<const std::byte>> inputs,
                           std::span<const std::span<std::byte>> outputs,
                           StepObserver& observer) override;
  absl::Status repeatSteps(size_t function, int64_t times) override;
  absl::Status resetStates() override;
  absl::StatusOr<std::unique_ptr<TokenStream>>
  streamTokens(size_t function, const TokenInputs& inputs, int64_t steps) override;

  const CudaMemoryUse& memoryUse() const;
  const CudaLoadTimes& loadTimes() const;
  /// Device time of the last call's steps, copies of inputs and outputs excluded.
  uint64_t lastStepsNs() const override;
  uint64_t deviceBytes() const override { return memoryUse().totalBytes(); }

  /// Times every step of the calls from now on, or stops. Off after loading; starting clears the
  /// times. Events between the steps keep each from overlapping the next.
  void setProfiling(bool enabled) override;
  /// The device times of `function`'s steps, in their order.
  std::span<const StepProfile> profile(size_t function) const override;

  absl::StatusOr<std::vector<std::vector<BlockStamps>>> readStamps(size_t function) override;

  /// By CUPTI, which is opened at the first call.
  absl::StatusOr<MemoryTraffic> countTraffic(size_t function) override;

private:
  struct Impl;
  explicit CudaExecutor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CUDA_CUDAEXECUTOR_H
