#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// LM head → argmax, with what stands between (a soft-cap): greedy decoding needs the index of the
/// largest logit alone. Where the logits are wanted, too, the kernel yields both.
static void propose(Operation* op, Propose propose) {
  if (!llvm::isa<ArgmaxOp>(op))
    return;
  Operation* logits = producerOf(op->getOperand(0));
  bool isTail = isElementwise(logits);
  llvm::SmallVector<Operation*> group =
      matmulChain(isTail ? logits->getOperand(0) : op->getOperand(0));
  if (group.empty())
    return;
  if (isTail)
    group.push_back(logits);
  group.push_back(op);
  propose(group);
}

extern constexpr FusionRule headArgmax = {"head-argmax", propose};

} // namespace tenon::passes::fusion::rules
