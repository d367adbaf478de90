#include "passes/fusion/FusionRule.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// True where elementwise operations alone read `op`, and perhaps the function returns it. What
/// more operations read than a kernel holds is stored and read again, whatever the kernels.
static bool isReadElementwise(Operation* op) {
  return !op->getResult(0).hasNUsesOrMore(mostKernelOperations) &&
         llvm::all_of(usersOf(op->getResult(0)), [](Operation* user) {
           return isElementwise(user) || user->hasTrait<OpTrait::IsTerminator>();
         });
}

/// The elementwise operations that lead to `op`, in program order, `op` the last.
static llvm::SmallVector<Operation*> chainTo(Operation* op) {
  llvm::SmallSetVector<Operation*, 8> chain;
  chain.insert(op);
  for (size_t next = 0; next < chain.size(); ++next)
    for (Value operand : chain[next]->getOperands())
      if (Operation* producer = producerOf(operand);
          isElementwise(producer) && isReadElementwise(producer))
        chain.insert(producer);
  llvm::SmallVector<Operation*> inOrder = chain.takeVector();
  llvm::sort(inOrder, [](Operation* a, Operation* b) { return a != b && a->isBeforeInBlock(b); });
  return inOrder;
}

/// Elementwise operations one after the other, each read by elementwise ones alone: each pair, and
/// the whole chain that ends in an operation which no elementwise one follows. A sum that others
/// read, too, the residual of a model, is the business of their rules.
static void propose(Operation* op, Propose propose) {
  if (!isElementwise(op))
    return;
  for (Value operand : op->getOperands())
    if (Operation* producer = producerOf(operand);
        isElementwise(producer) && isReadElementwise(producer))
      propose({producer, op});
  if (llvm::any_of(usersOf(op->getResult(0)), isElementwise))
    return;
  if (llvm::SmallVector<Operation*> chain = chainTo(op); chain.size() > 2)
    proposePieces(chain, propose);
}

extern constexpr FusionRule elementwiseChain = {"elementwise-chain", propose};

} // namespace tenon::passes::fusion::rules
