#ifndef TENON_KERNELS_REGIONS_EXPERTREGION_H
#define TENON_KERNELS_REGIONS_EXPERTREGION_H

#include "kernels/regions/ChoiceRegion.h"

namespace tenon::kernels {

/// GEMMs with experts as one kernel computes them: gate and up or one alone, and operations on
/// the elements of their results; or one alone, the weighted sum of what a row's experts give, and
/// operations on its elements. Beside those without a sum the choice of the experts may stand, for
/// rows of scores.
struct ExpertRegion {
  std::optional<ChoiceRegion> choice;
  llvm::SmallVector<ExpertMatmulOp, 2> gemms; ///< of one input, choice and shape
  WeightedSumOp sum;                          ///< null where there is none
  int64_t rows, chosen;                       ///< of the ids [rows, chosen]
  int64_t experts, columns, depth;            ///< of the weights [experts, columns, depth]

  /// Rows of the result, each a row of x with one expert.
  int64_t pairs() const { return rows * chosen; }
  /// Pairs that one row of x takes part in: 1 where each pair has a row of its own.
  int64_t sharing() const;
  /// A few rows seldom choose the same expert.
  bool fewShareExperts() const { return rows == 1 || 4 * pairs() <= experts; }
};

/// Reads the region of `kernel`, or says why no emitter of experts computes it. Asked for: one or
/// two GEMMs of the same input, ids and shapes, whose operands are arguments, the ids of a choice
/// in the region aside; at most one sum,
/// of one GEMM that nothing else reads; all else elementwise, at the positions of the last of
/// them, or without a sum rows of tables at these positions, biases of the chosen experts; results
/// of float elements at these positions.
VerdictOr<ExpertRegion> readExpertRegion(KernelOp kernel);

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_EXPERTREGION_H
