#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// gather → matmul, along the innermost axis: GEMMs of one input in another order, as weights want
/// it whose columns were sorted by their groups; with the norm that feeds the gather, too.
static void propose(Operation* op, Propose propose) {
  auto gather = llvm::dyn_cast<GatherOp>(op);
  if (!gather || static_cast<int64_t>(gather.getAxis()) != gather.getType().getRank() - 1)
    return;
  llvm::SmallVector<Operation*> group = matmulsOf(gather.getResult());
  if (group.empty() || group.size() + 2 > mostKernelOperations)
    return;
  for (Operation* matmul : group)
    propose({op, matmul});
  group.insert(group.begin(), op);
  propose(group);
  Operation* source = producerOf(gather.getInput());
  if (!isNorm(source) || onlyUser(source) != op)
    return;
  group.insert(group.begin(), source);
  propose(group);
}

extern constexpr FusionRule reorderedInput = {"reordered-input", propose};

} // namespace tenon::passes::fusion::rules
