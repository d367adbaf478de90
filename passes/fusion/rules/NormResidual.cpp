#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// y = x + norm(a), the norm after a half of the block (Gemma 2), and what follows element by
/// element.
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  llvm::SmallVector<Operation*> group = {op};
  for (Operation* next : elementwiseTail(op)) {
    group.push_back(next);
    propose(group);
  }
}

extern constexpr FusionRule normResidual = {"norm-residual", propose};

} // namespace tenon::passes::fusion::rules
