#ifndef TENON_RUNTIME_TOKENSTREAM_H
#define TENON_RUNTIME_TOKENSTREAM_H

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// The inputs of a step of decode, [rows] each; `blockTable` where caches are paged.
struct TokenInputs {
  std::span<const int32_t> ids, sequences, positions, blockTable = {};
};

/// A decode function that a device runs on its own results: the tokens that a step chooses
/// (`next_ids`) become the `ids` of the next, at the positions that follow, without leaving the
/// device's memory. Where the function also guesses (`step_ids`, `step_positions`), those are the inputs
/// of the next step, and its tokens `accepted_ids`: one or more of a step, and −2 for the other rows. Steps are
/// started ahead of those asked for.
class TokenStream {
public:
  virtual ~TokenStream() = default;

  /// Waits for the next step; the tokens that it chose, [rows], valid until the next call.
  /// FailedPrecondition after the last step.
  virtual absl::StatusOr<std::span<const int32_t>> next() = 0;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TOKENSTREAM_H
