#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// activation(gate) · up of two GEMMs of one input: a tile computes the same columns of both.
static void propose(Operation* op, Propose propose) {
  auto glu = llvm::dyn_cast<GluOp>(op);
  if (!glu)
    return;
  llvm::SmallVector<Operation*> group = matmulChain(glu.getGate()), up = matmulChain(glu.getUp());
  if (group.empty() || up.empty())
    return;
  llvm::append_range(group, up);
  group.push_back(op);
  propose(group);
  Operation* source = producerOf(group.front()->getOperand(0));
  if (isNorm(source) && source == producerOf(up.front()->getOperand(0))) {
    group.insert(group.begin(), source);
    propose(group);
  }
}

extern constexpr FusionRule gatedLinear = {"gated-linear", propose};

} // namespace tenon::passes::fusion::rules
