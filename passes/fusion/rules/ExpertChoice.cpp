#include "kernels/regions/ChoiceRegion.h"
#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// The largest elements of a softmax, and with their sum what they are divided by: how a mixture
/// chooses its experts.
static void propose(Operation* op, Propose propose) {
  auto best = llvm::dyn_cast<TopKOp>(op);
  Operation* softmax = best ? operandOp<SoftmaxOp>(op) : nullptr;
  if (!softmax)
    return;
  propose({softmax, op});
  if (llvm::SmallVector<Operation*, 4> whole = kernels::choiceAround(best); whole.size() > 2)
    propose(whole);
}

extern constexpr FusionRule expertChoice = {"expert-choice", propose};

} // namespace tenon::passes::fusion::rules
