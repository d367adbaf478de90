#ifndef TENON_RUNTIME_TEXT_INTERNAL_MODELFUNCTION_H
#define TENON_RUNTIME_TEXT_INTERNAL_MODELFUNCTION_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "runtime/Executor.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// A Decode or Prefill function of a program, with memory for its inputs and outputs, run on
/// sequence 0.
class ModelFunction {
public:
  /// Checks that function `index` of the executor's program, which must exist, has exactly the
  /// ports that its role asks for (see `Function`), for `vocabulary` tokens. `executor` must
  /// outlive this object.
  static absl::StatusOr<ModelFunction> create(Executor& executor, size_t index, int64_t vocabulary);

  /// The most tokens that a run takes.
  int64_t rows() const { return int64_t(ids.size()); }

  /// Runs `tokens`, from 1 to `rows()`, at positions `first`, `first` + 1, …; the other rows are
  /// inactive. Returns the logits behind the last token, [vocabulary], valid until the next run.
  absl::StatusOr<std::span<const float>> run(std::span<const int32_t> tokens, int64_t first);

  /// Greedy decode by the device alone from `token` at `position` on; null where it cannot. For a
  /// Decode function of one row.
  absl::StatusOr<std::unique_ptr<TokenStream>> stream(int32_t token, int64_t position,
                                                      int64_t steps);

private:
  ModelFunction(Executor& executor, size_t index, int64_t vocabulary);

  Executor* executor;
  size_t index;
  bool isPrefill;
  std::vector<int32_t> ids;       // [rows]
  std::vector<int32_t> sequences; // [rows], prefill [1]
  std::vector<int32_t> positions; // [rows]
  std::vector<int32_t> outputRow; // prefill [1]
  std::vector<float> logits;      // [rows, vocabulary], prefill [1, vocabulary]
  std::vector<int32_t> nextIds;   // as many as rows of logits, where the function gives them
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_MODELFUNCTION_H
