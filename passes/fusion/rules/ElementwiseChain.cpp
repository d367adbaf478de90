#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// True where elementwise operations alone read `op`, and perhaps the function returns it.
static bool isReadElementwise(Operation* op) {
  return llvm::all_of(usersOf(op->getResult(0)), [](Operation* user) {
    return isElementwise(user) || user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Elementwise operations one behind the other, each read by elementwise ones alone: each pair, and
/// the whole chain that ends in an operation which no elementwise one follows. A sum that others
/// read, too, the residual of a model, is the business of their rules.
static void propose(Operation* op, Propose propose) {
  if (!isElementwise(op))
    return;
  llvm::SmallVector<Operation*> group = {op};
  for (size_t next = 0; next < group.size(); ++next)
    for (Value operand : group[next]->getOperands()) {
      Operation* producer = producerOf(operand);
      if (!isElementwise(producer) || llvm::is_contained(group, producer) ||
          !isReadElementwise(producer))
        continue;
      group.push_back(producer);
      if (next == 0)
        propose({producer, op});
    }
  if (group.size() > 2 && llvm::none_of(usersOf(op->getResult(0)), isElementwise))
    propose(group);
}

const FusionRule elementwiseChain = {"elementwise-chain", propose};

} // namespace tenon::passes::fusion::rules
