#ifndef TENON_TESTS_FRONTENDS_GOLDEN_REFERENCEMODEL_H
#define TENON_TESTS_FRONTENDS_GOLDEN_REFERENCEMODEL_H

#include <memory>
#include <string>
#include <vector>

#include "frontends/models/ImportModel.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"

namespace tenon::tests {

/// Results of a function, by position in the signature, as doubles.
using Results = std::vector<std::vector<double>>;

/// A model file imported and run by the reference interpreter.
class ReferenceModel {
public:
  /// Decode with one and two rows and prefill with 16, each with block outputs. `edit` changes the
  /// module before it runs.
  explicit ReferenceModel(const std::string& path, bool round = true,
                          frontends::ActivationType activations = frontends::ActivationType::F32,
                          void (*edit)(mlir::ModuleOp) = nullptr);

  /// Feeds one token to sequence 0: logits [vocabulary], then each block's output [hidden].
  Results decode(int32_t id, int32_t position);
  /// Feeds a token to each of sequences 0 and 1: logits [2, vocabulary], block outputs [2, hidden].
  Results decodeBoth(int32_t first, int32_t second, int32_t position);
  /// Feeds up to 16 tokens from `position` on to sequence 0; logits of the last, block outputs
  /// [16, hidden].
  Results prefill(const std::vector<int32_t>& ids, int32_t position = 0);
  /// Feeds the tokens one by one from position 0 on; the results of each.
  std::vector<Results> decodeAll(const std::vector<int32_t>& ids);
  /// Forgets all tokens.
  void reset();

private:
  Results run(const char* function, const std::vector<std::vector<int32_t>>& inputs);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Interpreter> interpreter;
};

/// max |a − b| / max |b|; the lengths must be equal.
double relativeError(const std::vector<double>& a, const std::vector<double>& b);

/// Little-endian f32 of a file.
std::vector<double> readF32File(const std::string& path);

/// A prompt and what follows it.
struct GreedyRun {
  std::vector<int32_t> promptIds;
  std::vector<int32_t> greedyIds;
};

/// Checks that each of `run.greedyIds` has the largest logit after all before it (teacher forced:
/// the same as generating them), or one within `slack` · max |logit| of the largest.
void expectGreedy(ReferenceModel& model, const GreedyRun& run, double slack = 0);

/// Checks the logits of the first 13 positions, [13, 512] of f32 in a file, by decode, and those of
/// the last by prefill, too, which must be the same to the bit.
void expectLogits(ReferenceModel& model, const std::vector<int32_t>& ids,
                  const std::string& logitsFile, double tolerance);

} // namespace tenon::tests

#endif // TENON_TESTS_FRONTENDS_GOLDEN_REFERENCEMODEL_H
