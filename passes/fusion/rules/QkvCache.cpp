#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// Norm of heads → rope → Hadamard transform → cache write of Q, K and V in front of an attention:
/// without and with the GEMMs that they come from.
static void propose(Operation* op, Propose propose) {
  auto attention = llvm::dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  llvm::SmallVector<Operation*> tails, all;
  for (Value operand : attention->getOperands().take_front(3)) { // query, key, value
    llvm::SmallVector<Operation*> tail = headTail(operand);
    if (tail.size() > 1)
      propose(tail);
    llvm::SmallVector<Operation*> chain;
    if (!tail.empty())
      chain = matmulChain(tail.back()->getOperand(0));
    bool hasGemm = !chain.empty();
    llvm::append_range(chain, tail);
    if (hasGemm && chain.size() > 1)
      propose(chain);
    llvm::append_range(tails, tail);
    llvm::append_range(all, chain);
  }
  if (tails.size() > 1)
    propose(tails);
  if (all.size() > tails.size())
    propose(all);
}

extern constexpr FusionRule qkvCache = {"qkv-cache", propose};

} // namespace tenon::passes::fusion::rules
