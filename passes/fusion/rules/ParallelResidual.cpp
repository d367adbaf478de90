#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// (mlp + attention) + x, the parallel residual of GPT-NeoX, alone and behind the product of either
/// half with its bias. The order of the sum stays.
static void propose(Operation* op, Propose propose) {
  auto inner = llvm::isa<AddOp>(op) ? operandOp<AddOp>(op, 0) : AddOp();
  if (!inner || onlyUser(inner) != op)
    return;
  propose({inner, op});
  for (Value half : inner->getOperands()) {
    llvm::SmallVector<Operation*> group = matmulChain(half);
    if (group.empty())
      continue;
    group.append({inner, op});
    propose(group);
  }
}

const FusionRule parallelResidual = {"parallel-residual", propose};

} // namespace tenon::passes::fusion::rules
