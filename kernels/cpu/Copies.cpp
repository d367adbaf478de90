#include "kernels/cpu/ScheduleRule.h"

using namespace mlir;

namespace tenon::kernels::rules {

static bool matches(KernelOp kernel) {
  return llvm::hasNItems(kernel.getBlock(), 2) &&
         llvm::isa<ConcatOp, ReshapeOp, SliceOp, TransposeOp>(kernel.getBlock().front());
}

/// Rows of the result; for a concatenation, what lies after one another along its axis.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget&) {
  auto type = llvm::cast<RankedTensorType>(kernel.getResult(0).getType());
  int64_t rows = 1;
  if (auto concat = soleOp<ConcatOp>(kernel))
    rows = ShapedType::getNumElements(type.getShape().take_front(concat.getAxis()));
  else if (type.getRank() > 0)
    rows = type.getNumElements() / type.getShape().back();
  return makeRowSchedule(kernel, "copy", rows, type.getNumElements() / rows);
}

extern const ScheduleRule copies = {matches, choose};

} // namespace tenon::kernels::rules
