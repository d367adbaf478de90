#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// Norms of one value that differ in weights alone (a parallel residual has two): they read it once
/// and have the same sums.
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  llvm::SmallVector<Operation*> group = {op};
  for (Operation* other : usersOf(op->getOperand(0)))
    if (kernels::isSibling(*op, *other))
      group.push_back(other);
  // The first of them proposes.
  if (llvm::any_of(group, [&](Operation* other) { return other->isBeforeInBlock(op); }))
    return;
  proposePieces(group, propose);
}

extern constexpr FusionRule siblingNorms = {"sibling-norms", propose};

} // namespace tenon::passes::fusion::rules
