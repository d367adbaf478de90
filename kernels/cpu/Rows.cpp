#include "kernels/cpu/ScheduleRule.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::kernels::rules {

static bool matches(KernelOp kernel) {
  Operation& op = kernel.getBlock().front();
  return llvm::hasNItems(kernel.getBlock(), 2) &&
         llvm::isa<ArgmaxOp, DequantizeOp, EmbeddingOp, LayerNormOp, QuantizeOp, ReduceOp,
                   RingPlacesOp, RmsNormOp, RopeOp, SoftmaxOp, TopKOp>(op);
}

/// Work on independent rows, under the operation's own name. A row is what the emitter takes at
/// once: the innermost axis, all heads of a token for rope, a position, or a block of quants.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  Operation& op = kernel.getBlock().front();
  // Four accumulators hide the latency of addition.
  OrderAttr order = makeOrder(kernel.getContext(), 4 * target.lanes);
  llvm::TypeSwitch<Operation&>(op).Case<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(
      [&](auto reduction) { reduction.setOrderAttr(order); });
  auto type = llvm::cast<RankedTensorType>(llvm::isa<EmbeddingOp>(op) ? op.getResult(0).getType()
                                                                      : op.getOperand(0).getType());
  int64_t axes = llvm::isa<RopeOp>(op) ? 2 : llvm::isa<RingPlacesOp>(op) ? 0 : 1;
  int64_t rowElements = ShapedType::getNumElements(type.getShape().take_back(axes));
  if (auto quantize = llvm::dyn_cast<QuantizeOp>(op))
    rowElements = getEncoding(quantize.getType().getElementType())->blockSize;
  return makeRowSchedule(kernel, op.getName().stripDialect(), type.getNumElements() / rowElements,
                         rowElements);
}

extern const ScheduleRule rows = {matches, choose};

} // namespace tenon::kernels::rules
