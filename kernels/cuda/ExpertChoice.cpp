#include "kernels/cuda/ExpertChoice.h"

#include "kernels/cuda/Rows.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<ChoiceRegion> readExpertChoice(KernelOp kernel) {
  llvm::SmallVector<Operation*> ops;
  for (Operation& op : kernel.getBlock().without_terminator())
    ops.push_back(&op);
  return readChoice(ops);
}

VerdictOr<ExpertChoiceKernel> ExpertChoiceKernel::read(KernelOp kernel) {
  VerdictOr<ChoiceRegion> region = readExpertChoice(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<ExpertChoiceSchedule> schedule =
      parseSchedule<ExpertChoiceSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return ExpertChoiceKernel{*std::move(region), *schedule};
}

/// The shares of a row and the best of them.
BlockResources ExpertChoiceKernel::resources() const {
  return {.threads = schedule.threads, .registers = 128, .wholeTiles = true};
}

void setChoiceOrders(ChoiceRegion& choice, const CudaTarget& target) {
  scheduleRows(*choice.softmax.getOperation(), target);
  if (choice.sum)
    scheduleRows(*choice.sum.getOperation(), target);
}

namespace kinds {
extern constexpr KernelKind expertChoice = kindOf<ExpertChoiceKernel>();
} // namespace kinds

} // namespace tenon::kernels
