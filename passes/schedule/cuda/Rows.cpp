#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::cuda_rules {

static bool isHero(Operation& op) { return llvm::isa<ReduceOp>(op) || forms::cudaRows.isHero(op); }

/// A reduction to one element a row stands alone.
static bool matches(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<ReduceOp>(kernel)) || refuse(forms::cudaRows, kernel).empty();
}

/// A block takes one long row or four short ones.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget&) {
  return scheduleRows(*llvm::find_if(kernel.getBlock(), isHero));
}

const CudaScheduleRule rows = {matches, choose, &forms::cudaRows};

} // namespace tenon::passes::schedule::cuda_rules

namespace tenon::passes::schedule {

/// Norms of long rows have chunks of a warp's lanes, so that any number of warps can share a row: a
/// product that makes the norm itself has other threads than the norm's own kernel.
static OrderAttr chooseOrder(Operation& hero, int64_t group, int64_t vector) {
  bool inChunks = llvm::isa<RmsNormOp, LayerNormOp>(hero) && group > 32;
  return inChunks ? makeOrder(hero.getContext(), 32 * vector, 32 * vector)
                  : makeOrder(hero.getContext(), group * vector);
}

/// A warp for short rows, up to 1,024 lanes for long ones.
ScheduleAttr scheduleRows(Operation& hero) {
  constexpr int64_t mostLanes = 1024, vectorsPerThread = 4;
  auto input = llvm::cast<RankedTensorType>(hero.getOperand(0).getType());
  int64_t length = input.getShape().back(), rows = input.getNumElements() / length;
  int64_t vector = input.getElementType().isF32() ? 4 : 8;
  int64_t wanted = llvm::PowerOf2Ceil(llvm::divideCeil(length, vector * vectorsPerThread));
  int64_t group = std::clamp<int64_t>(wanted, 32, mostLanes / vector);
  int64_t threads = group > 32 ? group : rows > 1 ? 128 : 32;
  OrderAttr order = chooseOrder(hero, group, vector);
  llvm::TypeSwitch<Operation&>(hero).Case<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(
      [&](auto reduction) { reduction.setOrderAttr(order); });
  return makeSchedule(hero.getContext(), hero.getName().stripDialect(),
                      llvm::divideCeil(rows, threads / group),
                      {{"threads", threads}, {"group", group}, {"vector", vector}});
}

} // namespace tenon::passes::schedule
