#ifndef TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H
#define TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H

#include <array>
#include <memory>

#include "runtime/TokenStream.h"
#include "runtime/cuda/internal/AdvanceTokens.h"
#include "runtime/cuda/internal/StepSequence.h"

namespace tenon::runtime::internal {

/// Greedy decode of one function on its executor's stream: each step is a launch of `graph` (the
/// function's steps and `AdvanceTokens`) and a copy of its tokens, 4 bytes a row, to pinned memory.
class CudaTokenStream final : public TokenStream {
public:
  /// What the stream is made of; all of it outlives the stream.
  struct Parts {
    const Device& device;
    CUstream stream;
    const StepSequence& steps;
    const AdvanceTokens& advance;
    GraphExecutable* graph; ///< kept between token streams; null to launch step by step
    TokenPorts ports;
  };

  /// The inputs of the first step are on the device.
  static absl::StatusOr<std::unique_ptr<CudaTokenStream>> create(const Parts& parts);
  /// Waits for the steps under way.
  ~CudaTokenStream() override;

  int64_t depth() const override { return static_cast<int64_t>(slots); }
  absl::Status launch() override;
  absl::StatusOr<std::span<const int32_t>> collect() override;

private:
  static constexpr size_t slots = 4;

  explicit CudaTokenStream(const Parts& parts) : parts(parts) {}
  /// The function's steps, then the tokens' way back to its inputs.
  absl::Status enqueueStep();
  uint64_t slotBytes() const { return parts.ports.rows * sizeof(int32_t); }

  Parts parts;
  PinnedMemory tokens; ///< [slots, rows]
  std::array<Event, slots> done;
  size_t launched = 0;
  size_t collected = 0;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H
