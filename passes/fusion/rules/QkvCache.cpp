#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

namespace {

/// What stands between a product and the attention that reads it.
struct Branch {
  llvm::SmallVector<Operation*> tail;     ///< norm of heads, rope, cache write
  llvm::SmallVector<Operation*> products; ///< the product and its bias; empty where there is none
};

Branch followBack(Operation* op) {
  Branch branch;
  while (llvm::isa_and_nonnull<KvWriteOp, RopeOp>(op) || isNorm(op)) {
    branch.tail.push_back(op);
    branch.products = matmulChain(op->getOperand(0));
    op = producerOf(op->getOperand(0));
  }
  return branch;
}

} // namespace

/// Norm of heads → rope → cache write of Q, K and V in front of an attention: without and with the
/// products that they come from.
static void propose(Operation* op, Propose propose) {
  auto attention = llvm::dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  llvm::SmallVector<Operation*> tails, all;
  for (Value operand : attention->getOperands().take_front(3)) { // query, key, value
    Branch branch = followBack(producerOf(operand));
    if (branch.tail.size() > 1)
      propose(branch.tail);
    llvm::SmallVector<Operation*> chain(branch.products);
    llvm::append_range(chain, branch.tail);
    if (!branch.products.empty() && chain.size() > 1)
      propose(chain);
    llvm::append_range(tails, branch.tail);
    llvm::append_range(all, chain);
  }
  if (tails.size() > 1)
    propose(tails);
  if (all.size() > tails.size())
    propose(all);
}

const FusionRule qkvCache = {"qkv-cache", propose};

} // namespace tenon::passes::fusion::rules
