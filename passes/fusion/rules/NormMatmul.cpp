#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// The weighted sum that `sum`, a residual's, adds, if nothing else reads it; null otherwise.
static Operation* weightedTerm(Operation* sum) {
  for (unsigned operand : {0u, 1u})
    if (auto term = operandOp<WeightedSumOp>(sum, operand); term && onlyUser(term) == sum)
      return term;
  return nullptr;
}

/// norm → matmul: the norm is computed again by every tile of the GEMM, which costs less than a
/// kernel of its own where rows are few. So is the weighted sum of what experts give, with the
/// residual that the norm is of, before several GEMMs: the head alone, whose rings leave no room
/// beside the kernel before, would begin later (gpt-oss-20b, H200, 2026-11-28: 6 us).
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  for (Operation* matmul : matmulsOf(op->getResult(0)))
    propose({op, matmul});
  llvm::SmallVector<Operation*> matmuls = matmulsOf(op->getResult(0));
  Operation* sum = operandOp<AddOp>(op);
  Operation* term = sum && matmuls.size() > 1 ? weightedTerm(sum) : nullptr;
  if (!term)
    return;
  for (Operation* matmul : matmuls)
    propose({term, sum, op, matmul});
}

extern constexpr FusionRule normMatmul = {"norm-matmul", propose};

} // namespace tenon::passes::fusion::rules
