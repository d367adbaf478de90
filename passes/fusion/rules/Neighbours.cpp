#include "passes/fusion/FusionRule.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// An operation and one that reads its result, whatever they are, where no other rule has a group
/// that holds both: what the footprints and a kernel allow is tried, and grows with what shares
/// operations with it.
static void propose(Operation* op, Propose propose) {
  llvm::SmallSetVector<Operation*, 4> producers;
  for (Value operand : op->getOperands())
    if (auto producer = llvm::dyn_cast_or_null<ComputeOpInterface>(producerOf(operand)))
      producers.insert(producer);
  for (Operation* producer : producers)
    propose({producer, op});
}

extern constexpr FusionRule neighbours = {"neighbours", propose, /*fillsGaps=*/true};

} // namespace tenon::passes::fusion::rules
