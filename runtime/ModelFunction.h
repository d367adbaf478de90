#ifndef TENON_RUNTIME_MODELFUNCTION_H
#define TENON_RUNTIME_MODELFUNCTION_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "runtime/Executor.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// A row of a call: a token of a sequence at a position.
struct TokenRow {
  int32_t id = 0;
  int32_t sequence = 0;
  int32_t position = 0;

  bool operator==(const TokenRow&) const = default;
};

/// A Decode, Prefill or Mixed function of a program, with memory for its inputs and outputs.
class ModelFunction {
public:
  /// Checks that function `index` of the executor's program, which must exist, has the ports that
  /// its role asks for (`ModelPorts.h`) of the program's model, no other inputs, and outputs of no
  /// role, which stay on the device. Runs take the pages of the sequences, where caches are paged,
  /// from `blockTable`, i32 [sequences, blocks]. `executor` and `blockTable` must outlive this object.
  static absl::StatusOr<ModelFunction> create(Executor& executor, size_t index,
                                              const std::vector<int32_t>& blockTable);

  /// The most tokens that a run takes.
  int64_t rows() const { return int64_t(ids.size()); }

  /// What a run takes by the compiler's cost model; 0 where that cannot tell.
  int64_t predictedNs() const { return executor->program().functions[index].predictedNs; }

  /// Whether it chooses the most likely token after each row of logits.
  bool hasNextIds() const { return !chosenIds.empty(); }

  /// Runs `tokens`, from 1 to `rows()`; the other rows are inactive. Decode takes each of any
  /// sequence, Prefill all of one, at positions that follow each other, Mixed such chunks of several
  /// sequences, one after the other.
  /// Where `wantsLogits` is false and it has next ids, logits stay on the device, and `logits` has none.
  absl::Status run(std::span<const TokenRow> tokens, bool wantsLogits = true);
  /// The logits after token `row` of the last run, [vocabulary]; of Prefill and Mixed, those after the
  /// last token of chunk `row` alone. Valid until the next run.
  std::span<const float> logits(size_t row = 0) const;
  /// The most likely token after each row of logits, -1 where one of them is NaN; empty without
  /// `hasNextIds()`. Valid until the next run.
  std::span<const int32_t> nextIds() const { return chosenIds; }

  /// Greedy decode by the device alone from `token` on; null where it cannot. For a Decode function
  /// of one row.
  absl::StatusOr<std::unique_ptr<TokenStream>> stream(const TokenRow& token, int64_t steps);

private:
  ModelFunction(Executor& executor, size_t index, const std::vector<int32_t>& blockTable);
  /// The values of an input of that role.
  const std::vector<int32_t>& valuesOf(PortRole role) const;

  Executor* executor;
  const std::vector<int32_t>* blockTable; // [sequences, blocks], empty where caches are not paged
  size_t index;
  size_t vocabulary;
  bool isPrefill;
  size_t logitsPort;                 ///< among the outputs
  std::optional<size_t> nextIdsPort; ///< the same; nothing for a function without
  std::vector<int32_t> ids;          // [rows]
  std::vector<int32_t> sequences;    // [rows], prefill [1]
  std::vector<int32_t> positions;    // [rows]
  std::vector<int32_t> outputRows;   // [rows of logits], but of decode, which has those of all rows
  size_t logitsRows;
  std::vector<float> allLogits;   // [rows of logits, vocabulary]; none before a run
  std::vector<int32_t> chosenIds; // as many as rows of logits, where the function gives them
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_MODELFUNCTION_H
