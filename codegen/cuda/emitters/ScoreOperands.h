#ifndef TENON_CODEGEN_CUDA_EMITTERS_SCOREOPERANDS_H
#define TENON_CODEGEN_CUDA_EMITTERS_SCOREOPERANDS_H

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda {

/// The bias, slopes and sinks of an attention in the code of a block, which numbers the rows or
/// heads that it takes as its items.
class ScoreOperands {
public:
  ScoreOperands(KernelContext& context, AttentionOp op) : context(context), op(op) {}

  /// Whether something is added to scores, so that they may be −∞.
  bool addToScores() { return op.getBias() || op.getSlopes(); }
  bool areEmpty() { return !addToScores() && !op.getSinks(); }

  /// What the main loop and the store read of them.
  std::vector<Access> reads();
  /// `added(item, key)`, where something is added: `row` and `head` are those of an item, which may
  /// be none of the query's.
  void printAdded(CodeWriter& code, const std::string& row, const std::string& head);
  /// `denominator(total, largest, item)`, where it is not the total alone. `inPowersOfTwo`: the
  /// largest score is an exponent of two, else of e.
  void printDenominator(CodeWriter& code, const std::string& head, bool inPowersOfTwo);

private:
  /// Where the bias has its keys of `ofRow` and `ofHead`.
  std::string biasLine();
  std::string vectorAt(mlir::TypedValue<mlir::RankedTensorType> vector, const std::string& index);

  KernelContext& context;
  AttentionOp op;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_SCOREOPERANDS_H
