#ifndef TENON_RUNTIME_TOKENSTREAM_H
#define TENON_RUNTIME_TOKENSTREAM_H

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon::runtime {

/// A decode function that a device runs on its own results: the tokens that a step chooses
/// (`next_ids`) become the `ids` of the next, at the positions that follow, without leaving the
/// device's memory. Several steps may be under way.
class TokenStream {
public:
  virtual ~TokenStream() = default;

  /// The most steps that may be started and not collected.
  virtual int64_t depth() const = 0;
  /// Starts the next step and returns. FailedPrecondition where `depth` steps are under way.
  virtual absl::Status launch() = 0;
  /// Waits for the oldest step under way; the tokens that it chose, [rows], valid until the next
  /// call. FailedPrecondition where there is none.
  virtual absl::StatusOr<std::span<const int32_t>> collect() = 0;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TOKENSTREAM_H
