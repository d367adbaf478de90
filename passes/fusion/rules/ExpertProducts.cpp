#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// activation(gate) · up of the experts that each row chooses; and what the chosen give, with their
/// weighted sum and what follows it, residual sums.
static void propose(Operation* op, Propose propose) {
  if (llvm::isa<GluOp>(op)) {
    auto gate = operandOp<ExpertMatmulOp>(op, 0), up = operandOp<ExpertMatmulOp>(op, 1);
    if (gate && up && gate != up)
      propose({gate, up, op});
  }
  if (!llvm::isa<WeightedSumOp>(op))
    return;
  auto product = operandOp<ExpertMatmulOp>(op);
  if (!product)
    return;
  llvm::SmallVector<Operation*> group = {product, op};
  propose(group);
  for (Operation* next : elementwiseTail(op)) {
    if (group.size() == mostKernelOperations)
      break;
    group.push_back(next);
    propose(group);
  }
}

extern const FusionRule expertProducts = {"expert-products", propose};

} // namespace tenon::passes::fusion::rules
