#ifndef TENON_RUNTIME_CUDA_INTERNAL_STEPSEQUENCE_H
#define TENON_RUNTIME_CUDA_INTERNAL_STEPSEQUENCE_H

#include <optional>
#include <string>
#include <vector>

#include "runtime/StepProfile.h"
#include "runtime/cuda/internal/CublasLt.h"
#include "runtime/cuda/internal/DeviceProgramMemory.h"
#include "runtime/cuda/internal/KernelModules.h"
#include "runtime/cuda/internal/StampMemory.h"

namespace tenon::runtime::internal {

/// "kernel gemv: 132 blocks of 256 threads, 4096 bytes of shared memory, dependent launch", or
/// "cuBLASLt: 16 x 4096 x 4096, bf16 to f32".
std::string describeLaunch(const Kernel& kernel, int64_t tiles);

/// The steps of one function with the addresses of their arguments.
class StepSequence {
public:
  /// What the steps are made of; all of it outlives the sequence.
  struct Parts {
    const Device& device;
    const Program& program;
    const DeviceProgramMemory& memory;
    const StampMemory& stamps;
    const KernelModules& kernels;
    const CublasLt* library; ///< null if no kernel uses it
    CUstream stream;         ///< for trials of the library's implementations
    bool dependentLaunches;  ///< whether kernels that may start early do
  };

  /// Binds the steps of function `function`. Errors name the step and its kernel.
  static absl::StatusOr<StepSequence> create(const Parts& parts, size_t function);

  /// Starts every step on `stream`; with `check`, waits for each.
  absl::Status launch(CUstream stream, bool check) const;

  /// Starts step `index` alone on `stream` and waits for it.
  absl::Status finishStep(size_t index, CUstream stream) const;

  /// Starts every step on `stream` with an event before each and after the last; `eventFlags` are
  /// cuEventRecordWithFlags's.
  absl::Status launchTimed(CUstream stream, unsigned eventFlags);
  /// Adds the times of the last timed launch, which has ended, to `profiles`.
  absl::Status readTimes(std::vector<StepProfile>& profiles) const;

  size_t size() const { return steps.size(); }

private:
  struct BoundStep {
    const Step* step = nullptr;
    const Kernel* kernel = nullptr;
    CUfunction function = nullptr;
    std::vector<CUdeviceptr>
        addresses; ///< of the arguments, then of the stamps where it leaves any
    std::vector<CUtensorMap> tensorMaps; ///< of arguments
    std::optional<MatmulPlan> matmul;
  };

  explicit StepSequence(const Parts& parts) : parts(parts) {}

  absl::StatusOr<BoundStep> bind(size_t function, const Step& step, size_t index) const;
  /// Says which step an error is about.
  absl::Status inStep(const BoundStep& step, const absl::Status& status) const;
  absl::Status launchKernel(const BoundStep& step, CUstream stream) const;
  absl::Status launchStep(const BoundStep& step, CUstream stream) const;

  Parts parts;
  std::vector<BoundStep> steps;
  std::vector<Event> events; ///< before each step and after the last; none before they are needed
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_STEPSEQUENCE_H
