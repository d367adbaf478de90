#ifndef TENON_TESTS_END_TO_END_MODELS_H
#define TENON_TESTS_END_TO_END_MODELS_H

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"

namespace tenon::tests {

/// The outputs of a call, by port, all of f32.
using Outputs = std::vector<std::vector<float>>;

/// Calls function `index` with `ids` at the positions from `firstPosition` on; the last row's
/// logits where the function selects one.
absl::StatusOr<Outputs> runRows(runtime::Executor& executor, size_t index,
                                const std::vector<int32_t>& ids, int32_t firstPosition);

/// max |a − b| / max |b|; infinity where a value is not finite.
double relativeDifference(const std::vector<float>& a, const std::vector<float>& b);

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_MODELS_H
