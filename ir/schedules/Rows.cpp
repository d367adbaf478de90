#include "ir/HeadRegion.h"
#include "ir/schedules/ScheduleKind.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::schedules {

static constexpr int64_t floatBytes = 4;

/// Rows that threads keep in registers, with the vectors that scale and shift them, where a thread
/// has at most 64 elements of a row; longer ones are read again for each pass.
template <typename OpTy, int64_t sums, int64_t extrema>
static bool fillRows(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t others = 36, othersFused = 52, mostFloats = 64;
  int64_t group = sizeParameter(kernel, "group"), vector = sizeParameter(kernel, "vector");
  auto hero = findOp<OpTy>(kernel);
  if (group < 1 || vector < 1 || !hero)
    return false;
  auto input = llvm::cast<RankedTensorType>(hero->getOperand(0).getType());
  int64_t floats = llvm::divideCeil(input.getShape().back(), group * vector) * vector;
  int64_t kept = floats <= mostFloats ? floats * hero->getNumOperands() : vector;
  bool alone = llvm::hasNItems(kernel.getBlock(), 2);
  resources.registers = llvm::alignTo((alone ? others : othersFused) + kept, 8);
  resources.wholeTiles = true;
  OrderAttr order = hero.getOrderAttr();
  int64_t parts = group * vector;
  if (order && order.getChunk() > 0)
    parts = llvm::alignTo(llvm::divideCeil(input.getShape().back(), order.getChunk()), 4);
  if (group > 32) // a warp combines by itself
    resources.staticSmemBytes = floatBytes * (sums * parts + extrema * (group / 32));
  return true;
}

static bool fillReduce(KernelOp kernel, BlockResources& resources) {
  auto op = findOp<ReduceOp>(kernel);
  bool sums = op && (op.getKind() == ReduceKind::Sum || op.getKind() == ReduceKind::Mean);
  if (!op || !(sums ? fillRows<ReduceOp, 1, 0>(kernel, resources)
                    : fillRows<ReduceOp, 0, 1>(kernel, resources)))
    return false;
  resources.registers = 40; // the one pass keeps nothing
  return true;
}

/// A candidate, value and index, of each warp.
template <int64_t buffers> static bool fillSelection(KernelOp, BlockResources& resources) {
  constexpr int64_t candidateBytes = 8;
  resources.registers = 40;
  resources.staticSmemBytes = buffers * candidateBytes * (resources.threads / 32);
  return true;
}

/// A head of each warp, with the lanes of its norm's sum.
static bool fillHeads(KernelOp kernel, BlockResources& resources) {
  HeadRegion region;
  if (!readHeadRegion(kernel, region).empty())
    return false;
  int64_t size = 0, lanes = 0;
  for (HeadRegion::Chain& chain : region.chains) {
    size = std::max<int64_t>(size, llvm::alignTo(chain.size, 4));
    if (chain.norm && chain.norm.getOrderAttr())
      lanes = std::max(lanes, chain.norm.getOrderAttr().getLanes());
  }
  resources.registers = 64;
  resources.wholeTiles = true;
  resources.staticSmemBytes = detail::saturatingProduct(
      {floatBytes * (resources.threads / 32), detail::saturatingSum({size, lanes})});
  return true;
}

const ScheduleKind rmsNorm = {"rms_norm", fillRows<RmsNormOp, 1, 0>};
const ScheduleKind layerNorm = {"layer_norm", fillRows<LayerNormOp, 2, 0>};
const ScheduleKind softmax = {"softmax", fillRows<SoftmaxOp, 1, 1>};
const ScheduleKind reduce = {"reduce", fillReduce};
const ScheduleKind argmax = {"argmax", fillSelection<1>};
const ScheduleKind topK = {"top_k", fillSelection<2>};
const ScheduleKind heads = {"heads", fillHeads};

} // namespace tenon::schedules
