#include "kernels/regions/ChoiceRegion.h"
#include "passes/fusion/FusionRule.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// So many GEMMs with experts, `last` and the elementwise operations between; nothing where there
/// are not so many.
static llvm::SmallVector<Operation*> unitOf(Operation* last, size_t wanted) {
  llvm::SetVector<Operation*> group;
  group.insert(last);
  size_t gemms = 0;
  for (size_t i = 0; i < group.size() && group.size() <= mostKernelOperations; ++i) {
    gemms += llvm::isa<ExpertMatmulOp>(group[i]);
    if (llvm::isa<ExpertMatmulOp, EmbeddingOp>(group[i]))
      continue;
    for (Value operand : group[i]->getOperands())
      if (Operation* source = operand.getDefiningOp();
          source && (llvm::isa<ExpertMatmulOp, EmbeddingOp>(source) || isElementwise(source)))
        group.insert(source);
  }
  if (gemms != wanted || group.size() > mostKernelOperations)
    return {};
  return group.takeVector();
}

/// `unit` alone, and with the choice of its experts.
static void proposeUnit(llvm::ArrayRef<Operation*> unit, Propose propose) {
  propose(unit);
  for (Operation* op : unit)
    if (auto gemm = llvm::dyn_cast<ExpertMatmulOp>(op))
      if (auto best = gemm.getIds().getDefiningOp<TopKOp>()) {
        llvm::SmallVector<Operation*> group(kernels::choiceAround(best));
        llvm::append_range(group, unit);
        propose(group);
        return;
      }
}

/// A GEMM with experts, biases that their numbers choose, and what follows on elements.
static void proposeChain(ExpertMatmulOp gemm, Propose propose) {
  llvm::SmallVector<Operation*> group = {gemm};
  for (Operation* next : elementwiseTail(gemm)) {
    for (Value operand : next->getOperands())
      if (auto bias = operand.getDefiningOp<EmbeddingOp>())
        group.push_back(bias);
    group.push_back(next);
    if (group.size() > mostKernelOperations)
      return;
    propose(group);
  }
}

/// A unit of what two GEMMs give for the experts that each row chooses, activation(gate) · up or
/// with biases and bounds, and with how they are chosen; what one gives, with its bias; and what
/// the chosen give, with its bias, their weighted sum and what follows it, residual sums.
static void propose(Operation* op, Propose propose) {
  if (auto gemm = llvm::dyn_cast<ExpertMatmulOp>(op))
    proposeChain(gemm, propose);
  if (llvm::isa<MulOp>(op))
    if (llvm::SmallVector<Operation*> unit = unitOf(op, 2); !unit.empty())
      proposeUnit(unit, propose);
  if (llvm::isa<GluOp>(op)) {
    auto gate = operandOp<ExpertMatmulOp>(op, 0), up = operandOp<ExpertMatmulOp>(op, 1);
    if (gate && up && gate != up)
      proposeUnit({gate, up, op}, propose);
  }
  Operation* summed = llvm::isa<WeightedSumOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  llvm::SmallVector<Operation*> group;
  if (summed && (llvm::isa<ExpertMatmulOp>(summed) || isElementwise(summed)))
    group = unitOf(summed, 1);
  if (group.empty())
    return;
  group.push_back(op);
  propose(group);
  for (Operation* next : elementwiseTail(op)) {
    if (group.size() == mostKernelOperations)
      break;
    group.push_back(next);
    propose(group);
  }
}

extern constexpr FusionRule expertProducts = {"expert-products", propose};

} // namespace tenon::passes::fusion::rules
