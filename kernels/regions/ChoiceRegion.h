#ifndef TENON_KERNELS_REGIONS_CHOICEREGION_H
#define TENON_KERNELS_REGIONS_CHOICEREGION_H

#include "ir/Dialect.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// The choice of a mixture of experts, all of it in f32: the softmax of each row's scores, its
/// largest elements and, where they are divided by their sum, that.
struct ChoiceRegion {
  SoftmaxOp softmax;
  TopKOp best;
  ReduceOp sum;  ///< null where the weights are not divided
  DivOp weights; ///< likewise
  int64_t rows, experts;

  auto chosen() { return static_cast<int64_t>(best.getK()); }
  /// Whether `value` is what it gives: largest shares, their numbers, weights.
  bool gives(mlir::Value value);
};

/// What `best` chooses by, and what follows it: the softmax before it in its block and, of what
/// reads the largest shares there, a sum and a division.
llvm::SmallVector<mlir::Operation*, 4> choiceAround(TopKOp best);

/// Reads the choice that `ops` are, in any order, or says why they are none.
VerdictOr<ChoiceRegion> readChoice(llvm::ArrayRef<mlir::Operation*> ops);

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_CHOICEREGION_H
