#ifndef TENON_RUNTIME_EXECUTOR_H
#define TENON_RUNTIME_EXECUTOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/BlockStamps.h"
#include "runtime/MemoryTraffic.h"
#include "runtime/StepObserver.h"
#include "runtime/StepProfile.h"
#include "runtime/TokenStream.h"

namespace tenon::runtime {

struct Program;

/// Runs the functions of one Program on one device. Inputs and outputs are host memory in
/// row-major order, in the element types and shapes that the function's signature names; states
/// (KV caches) live on the device between calls. Not thread-safe: one caller at a time.
class Executor {
public:
  virtual ~Executor() = default;

  /// The program that this executor runs.
  virtual const Program& program() const = 0;

  /// Runs function `function` (an index into `Program::functions`) to completion. Spans must have
  /// exactly the byte sizes of the signature; InvalidArgument names the first that does not. An output
  /// that is not wanted has an empty span: it stays on the device.
  virtual absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                           std::span<const std::span<std::byte>> outputs) = 0;

  /// The same step by step, each ended before the next begins; `observer` is called between them.
  /// Unimplemented where a device has no steps.
  virtual absl::Status runObserved(size_t function,
                                   std::span<const std::span<const std::byte>> inputs,
                                   std::span<const std::span<std::byte>> outputs,
                                   StepObserver& observer) {
    return absl::UnimplementedError("this device runs no single steps to observe");
  }

  /// Runs the steps of `function`, the last call's, `times` times more, each right after the other:
  /// on the inputs that the device still has, without fetching outputs, as the steps of a larger whole
  /// would run. To be timed: `lastStepsNs` and `profile` are as after a call, the last of them.
  /// FailedPrecondition where the last call was not of this function, Unimplemented where a device
  /// keeps no inputs.
  virtual absl::Status repeatSteps(size_t function, int64_t times) {
    return absl::UnimplementedError("this device keeps no inputs to repeat a call's steps on");
  }

  /// Sets every byte of every state to zero, as after loading.
  virtual absl::Status resetStates() = 0;

  /// `steps` steps of decode function `function` on its own results, beginning with these inputs,
  /// where the device can do that and the function has the output `next_ids`; null otherwise. The
  /// caller keeps the positions within the context, and gives each sequence pages for all of them.
  /// The stream must go before the executor, and ends with the executor's next call.
  virtual absl::StatusOr<std::unique_ptr<TokenStream>>
  streamTokens(size_t function, const TokenInputs& inputs, int64_t steps) {
    return nullptr;
  }

  // What a device measures of itself; the defaults are those of one that does not.

  /// Time of the last call's steps, without the copies of inputs and outputs; 0 if not measured.
  virtual uint64_t lastStepsNs() const { return 0; }
  /// Times every step of the calls from now on, or stops; starting clears the times.
  virtual void setProfiling(bool enabled) {}
  /// The times of `function`'s steps, in their order; none where steps are not timed.
  virtual std::span<const StepProfile> profile(size_t function) const { return {}; }
  /// What the blocks of `function`'s last call left, by step; none for a step whose kernel does not
  /// stamp. FailedPrecondition where no kernel of the program does.
  virtual absl::StatusOr<std::vector<std::vector<BlockStamps>>> readStamps(size_t function) {
    return absl::FailedPreconditionError(
        "expects a program whose kernels leave stamps, but this one's leave none");
  }
  /// What the device's memory moves while the steps of `function`, the last call's, run once more or as
  /// often as counting takes. Unimplemented where a device counts nothing, FailedPrecondition where
  /// the last call was not of this function, else what keeps the counters from being read.
  virtual absl::StatusOr<MemoryTraffic> countTraffic(size_t function) {
    return absl::UnimplementedError("no counter of this device is read");
  }
  /// Bytes of the device's own memory that the program takes; 0 where it has none of its own.
  virtual uint64_t deviceBytes() const { return 0; }
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_EXECUTOR_H
