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
#include "runtime/program/ModelPorts.h"
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
  bool hasNextIds() const { return !nextIds().empty(); }
  /// Whether it says which rows are right guesses.
  bool hasAcceptedIds() const { return !acceptedIds().empty(); }
  /// Whether the model guesses by itself what follows the next token.
  bool hasDraftIds() const { return !draftIds().empty(); }
  /// Whether it also gives the ids and positions of the next call, so that `stream` goes on with guesses.
  bool hasStepIds() const {
    return findPort(executor->program().functions[index].outputs, PortRole::StepIds).has_value();
  }

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
  std::span<const int32_t> nextIds() const { return tokensOf(PortRole::NextIds); }
  /// Of rows that are the last token of one sequence and guesses of those behind it: the most likely token
  /// after each row, −2 for those behind the first wrong guess; empty without `hasAcceptedIds()`.
  /// Valid until the next run.
  std::span<const int32_t> acceptedIds() const { return tokensOf(PortRole::AcceptedIds); }
  /// What the model's own head guesses behind the most likely token after each row; empty without
  /// `hasDraftIds()`. Valid until the next run.
  std::span<const int32_t> draftIds() const { return tokensOf(PortRole::DraftIds); }

  /// Greedy decode by the device alone from `tokens` on, `rows()` or fewer; null where it cannot. For a
  /// Decode function.
  absl::StatusOr<std::unique_ptr<TokenStream>> stream(std::span<const TokenRow> tokens,
                                                      int64_t steps);

private:
  ModelFunction(Executor& executor, size_t index, const std::vector<int32_t>& blockTable);
  /// Makes `tokens` the inputs of the next call.
  void take(std::span<const TokenRow> tokens);
  std::span<const int32_t> tokensOf(PortRole role) const;
  /// The values of an input of that role.
  const std::vector<int32_t>& valuesOf(PortRole role) const;

  /// An output of an id for each row of logits.
  struct TokenOutput {
    PortRole role;
    size_t port; ///< among the outputs
    std::vector<int32_t> values;
  };

  Executor* executor;
  const std::vector<int32_t>* blockTable; // [sequences, blocks], empty where caches are not paged
  size_t index;
  size_t vocabulary;
  bool isPrefill;
  size_t logitsPort;               ///< among the outputs
  std::vector<int32_t> ids;        // [rows]
  std::vector<int32_t> sequences;  // [rows], prefill [1]
  std::vector<int32_t> positions;  // [rows]
  std::vector<int32_t> outputRows; // [rows of logits], but of decode, which has those of all rows
  size_t logitsRows;
  std::vector<float> allLogits; // [rows of logits, vocabulary]; none before a run
  std::vector<TokenOutput> tokenOutputs;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_MODELFUNCTION_H
