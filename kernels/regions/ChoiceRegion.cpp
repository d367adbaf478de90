#include "kernels/regions/ChoiceRegion.h"

using namespace mlir;

namespace tenon::kernels {

/// Elements of a row that a thread of its warp keeps, and elements that it keeps of the best.
static constexpr int64_t mostExperts = 512, mostChosen = 32;

static bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

bool ChoiceRegion::gives(Value value) {
  Operation* op = value.getDefiningOp();
  return op && (op == best || op == DivOp(weights));
}

llvm::SmallVector<Operation*, 4> choiceAround(TopKOp best) {
  llvm::SmallVector<Operation*, 4> ops = {best};
  Operation* softmax = best.getInput().getDefiningOp<SoftmaxOp>();
  if (softmax && softmax->getBlock() == best->getBlock())
    ops.push_back(softmax);
  for (Operation* user : best.getValues().getUsers())
    if (llvm::isa<ReduceOp, DivOp>(user))
      ops.push_back(user);
  return ops;
}

VerdictOr<ChoiceRegion> readChoice(llvm::ArrayRef<Operation*> ops) {
  ChoiceRegion found{};
  for (Operation* op : ops) {
    if (auto softmax = llvm::dyn_cast<SoftmaxOp>(op))
      found.softmax = softmax;
    else if (auto best = llvm::dyn_cast<TopKOp>(op))
      found.best = best;
    else if (auto sum = llvm::dyn_cast<ReduceOp>(op))
      found.sum = sum;
    else if (auto weights = llvm::dyn_cast<DivOp>(op))
      found.weights = weights;
    else
      return Refusal{"the choice of experts cannot hold " + op->getName().stripDialect().str()};
  }
  bool isChoice =
      found.softmax && found.best && llvm::isa<BlockArgument>(found.softmax.getInput()) &&
      found.best.getInput() == found.softmax.getResult() && found.softmax.getResult().hasOneUse();
  bool divides = found.sum && found.weights && found.sum.getKind() == ReduceKind::Sum &&
                 found.sum.getInput() == found.best.getValues() &&
                 found.weights.getLhs() == found.best.getValues() &&
                 found.weights.getRhs() == found.sum.getResult() &&
                 found.sum.getResult().hasOneUse();
  if (!isChoice || ops.size() != (divides ? 4u : 2u))
    return Refusal{"a choice of experts is the largest elements of a softmax, which nothing else "
                   "reads, divided by their sum or not"};
  found.experts = found.softmax.getType().getShape().back();
  found.rows = found.softmax.getType().getNumElements() / found.experts;
  if (found.experts > mostExperts || found.chosen() > mostChosen)
    return Refusal{"a warp chooses at most " + std::to_string(mostChosen) + " of at most " +
                   std::to_string(mostExperts) + " experts, not " + std::to_string(found.chosen()) +
                   " of " + std::to_string(found.experts)};
  if (!isF32(found.softmax.getInput()) || !isF32(found.softmax.getResult()) ||
      !isF32(found.best.getValues()) || (divides && !isF32(found.sum.getResult())) ||
      (divides && !isF32(found.weights.getResult())))
    return Refusal{"a warp chooses experts by shares in f32"};
  return found;
}

} // namespace tenon::kernels
