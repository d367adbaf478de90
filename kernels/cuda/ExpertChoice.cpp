#include "kernels/cuda/ExpertChoice.h"

#include "kernels/cuda/Rows.h"

using namespace mlir;

namespace tenon::kernels {

/// Elements of a row that a thread of its warp keeps, and elements that it keeps of the best.
static constexpr int64_t mostExperts = 512, mostChosen = 32;

static bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

VerdictOr<ExpertChoiceKernel> readExpertChoice(KernelOp kernel) {
  ExpertChoiceKernel found{};
  size_t operations = 0;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    ++operations;
    if (auto softmax = llvm::dyn_cast<SoftmaxOp>(op))
      found.softmax = softmax;
    else if (auto best = llvm::dyn_cast<TopKOp>(op))
      found.best = best;
    else if (auto sum = llvm::dyn_cast<ReduceOp>(op))
      found.sum = sum;
    else if (auto weights = llvm::dyn_cast<DivOp>(op))
      found.weights = weights;
    else
      return Refusal{"the choice of experts cannot hold " + op.getName().stripDialect().str()};
  }
  bool isChoice =
      found.softmax && found.best && llvm::isa<BlockArgument>(found.softmax.getInput()) &&
      found.best.getInput() == found.softmax.getResult() && found.softmax.getResult().hasOneUse();
  bool divides = found.sum && found.weights && found.sum.getKind() == ReduceKind::Sum &&
                 found.sum.getInput() == found.best.getValues() &&
                 found.weights.getLhs() == found.best.getValues() &&
                 found.weights.getRhs() == found.sum.getResult() &&
                 found.sum.getResult().hasOneUse();
  if (!isChoice || operations != (divides ? 4 : 2))
    return Refusal{"a choice of experts is the largest elements of a softmax, which nothing else "
                   "reads, divided by their sum or not"};
  llvm::ArrayRef<int64_t> shape = found.softmax.getType().getShape();
  found.experts = shape.back();
  found.rows = found.softmax.getType().getNumElements() / found.experts;
  if (found.experts > mostExperts || static_cast<int64_t>(found.best.getK()) > mostChosen)
    return Refusal{"a warp chooses at most " + std::to_string(mostChosen) + " of at most " +
                   std::to_string(mostExperts) + " experts, not " +
                   std::to_string(found.best.getK()) + " of " + std::to_string(found.experts)};
  if (!isF32(found.softmax.getInput()) || !isF32(found.softmax.getResult()) ||
      !isF32(found.best.getValues()) || (divides && !isF32(found.sum.getResult())) ||
      (divides && !isF32(found.weights.getResult())))
    return Refusal{"a warp chooses experts by shares in f32"};
  return found;
}

VerdictOr<ExpertChoiceKernel> ExpertChoiceKernel::read(KernelOp kernel) {
  VerdictOr<ExpertChoiceKernel> found = readExpertChoice(kernel);
  if (!found)
    return found.refusal();
  VerdictOr<ExpertChoiceSchedule> schedule =
      parseSchedule<ExpertChoiceSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  found->schedule = *schedule;
  return found;
}

/// The shares of a row and the best of them.
BlockResources ExpertChoiceKernel::resources() const {
  return {.threads = schedule.threads, .registers = 128, .wholeTiles = true};
}

ExpertChoiceSchedule chooseExpertChoice(const ExpertChoiceKernel& kernel,
                                        const CudaTarget& target) {
  constexpr int64_t warp = 32;
  Operation* softmax = SoftmaxOp(kernel.softmax);
  scheduleRows(*softmax, target);
  if (Operation* sum = ReduceOp(kernel.sum))
    scheduleRows(*sum, target);
  return {kernel.rows, warp};
}

namespace kinds {
extern const KernelKind expertChoice = kindOf<ExpertChoiceKernel>();
} // namespace kinds

} // namespace tenon::kernels
