#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// LM head → argmax: greedy decoding needs the index of the largest logit alone.
static void propose(Operation* op, Propose propose) {
  if (!llvm::isa<ArgmaxOp>(op))
    return;
  llvm::SmallVector<Operation*> group = matmulChain(op->getOperand(0));
  if (group.empty())
    return;
  group.push_back(op);
  propose(group);
}

const FusionRule headArgmax = {"head-argmax", propose};

} // namespace tenon::passes::fusion::rules
