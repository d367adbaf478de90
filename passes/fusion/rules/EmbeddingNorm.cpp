#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// embedding, scale or sum of embeddings, norm: the first norm of a model. The embedding is the
/// first residual, so the kernel yields both.
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  llvm::SmallVector<Operation*> group = {op};
  llvm::SmallVector<Operation*> open = {producerOf(op->getOperand(0))};
  bool embeds = false;
  while (!open.empty()) {
    Operation* next = open.pop_back_val();
    if (!next || llvm::is_contained(group, next))
      continue;
    embeds |= llvm::isa<EmbeddingOp>(next);
    if (!llvm::isa<EmbeddingOp>(next) && !isElementwise(next))
      return;
    group.push_back(next);
    if (group.size() > mostKernelOperations)
      return;
    if (isElementwise(next))
      for (Value operand : next->getOperands())
        open.push_back(producerOf(operand));
  }
  if (embeds)
    propose(group);
}

extern constexpr FusionRule embeddingNorm = {"embedding-norm", propose};

} // namespace tenon::passes::fusion::rules
