#ifndef TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H
#define TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H

#include <vector>

#include "runtime/TokenStream.h"
#include "runtime/cuda/internal/AdvanceTokens.h"
#include "runtime/cuda/internal/StepSequence.h"

namespace tenon::runtime::internal {

/// What a function's token streams share: the graphs hold the ring's address.
struct TokenGraphs {
  TokenRing ring;
  GraphExecutable one;     ///< of the function's steps and `AdvanceTokens`
  GraphExecutable several; ///< the same, `CudaTokenStream::stepsOfGraph` times
};

/// Greedy decode of one function on its executor's stream: launches of its graphs, whose tokens come
/// through the ring, so that between two tokens the device waits for nothing.
class CudaTokenStream final : public TokenStream {
public:
  static constexpr int64_t stepsOfGraph = 4;

  /// What the stream is made of; all of it outlives the stream.
  struct Parts {
    const Device& device;
    CUstream stream;
    const StepSequence& steps;
    const AdvanceTokens& advance;
    TokenGraphs& graphs;
    bool asGraph; ///< or kernel by kernel
    TokenPorts ports;
  };

  /// A stream of `count` steps. The inputs of the first are on the device, and nothing is under way
  /// that stores to the ring.
  static absl::StatusOr<std::unique_ptr<CudaTokenStream>> create(const Parts& parts, int64_t count);
  /// Waits for the steps under way.
  ~CudaTokenStream() override;

  absl::StatusOr<std::span<const int32_t>> next() override;

private:
  /// Steps under way with which no more are started.
  static constexpr int64_t mostAhead = 2;
  static_assert(mostAhead - 1 + stepsOfGraph <= TokenRing::slots);

  CudaTokenStream(const Parts& parts, int64_t count)
      : parts(parts), count(count), tokens(parts.ports.rows) {}
  /// `steps` times the function's steps, then the tokens' way back to its inputs.
  absl::Status enqueue(int64_t steps);
  /// Starts the next step, or several.
  absl::Status launch();
  /// Takes the tokens of step `collected` if they are there.
  bool collect();

  Parts parts;
  int64_t count;
  int64_t launched = 0;
  int64_t collected = 0;
  std::vector<int32_t> tokens; ///< [rows]
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_CUDATOKENSTREAM_H
