#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// A sum of three: x and both halves of a parallel block in any order, (mlp + attention) + x of
/// GPT-NeoX; alone, after the GEMM of either half with its bias, and after both GEMMs. The
/// order of the sum stays.
static void propose(Operation* op, Propose propose) {
  if (!llvm::isa<AddOp>(op))
    return;
  for (unsigned index : {0u, 1u}) {
    auto inner = operandOp<AddOp>(op, index);
    if (!inner || onlyUser(inner) != op || isPointwise(inner))
      continue;
    propose({inner, op});
    llvm::SmallVector<Operation*> both;
    unsigned gemms = 0;
    for (Value term : {inner->getOperand(0), inner->getOperand(1), op->getOperand(1 - index)}) {
      llvm::SmallVector<Operation*> group = pointwiseChain(term);
      if (group.empty())
        continue;
      ++gemms;
      llvm::append_range(both, group);
      group.append({inner, op});
      propose(group);
    }
    both.append({inner, op});
    if (gemms > 1)
      propose(both);
  }
}

extern constexpr FusionRule parallelResidual = {"parallel-residual", propose};

} // namespace tenon::passes::fusion::rules
