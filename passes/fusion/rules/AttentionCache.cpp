#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// Norm and rope of the queries and norm, rope and cache write of the call's keys and values, with
/// the attention that reads them.
static void propose(Operation* op, Propose propose) {
  auto attention = llvm::dyn_cast<AttentionOp>(op);
  if (!attention)
    return;
  llvm::SmallVector<Operation*> group;
  for (Value operand : attention->getOperands().take_front(3)) // query, key, value
    llvm::append_range(group, headTail(operand));
  if (group.empty())
    return;
  group.push_back(op);
  propose(group);
}

extern constexpr FusionRule attentionCache = {"attention-cache", propose};

} // namespace tenon::passes::fusion::rules
