#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/DecodeAttention.h"
#include "kernels/cuda/HopperAttention.h"
#include "kernels/cuda/Rows.h"
#include "kernels/cuda/TensorDecodeAttention.h"
#include "kernels/cuda/TensorPrefillAttention.h"
#include "kernels/regions/AttentionExtents.h"

using namespace mlir;

namespace tenon::kernels::cuda_rules {

/// Whether tensor cores can take the operands as they are: one 16-bit type, no rings, whole
/// vectors of `multiple` elements, a scale that keeps the scores' order.
static bool suitsTensorCores(AttentionOp op, int64_t multiple, bool mayBeQuants = false) {
  constexpr int64_t mostSize = 256;
  Type type = op.getQuery().getType().getElementType();
  AttentionExtents extents(op);
  bool areQuants = mayBeQuants && KvCache(op.getKey().getType()).isQuantized() &&
                   KvCache(op.getValue().getType()).isQuantized();
  bool areOfType = extents.keyElement == type && extents.valueElement == type;
  return !type.isF32() && !KvCache(op.getKey().getType()).isRing() && (areQuants || areOfType) &&
         op.getType().getElementType() == type && extents.keySize % multiple == 0 &&
         extents.valueSize % multiple == 0 &&
         std::max(extents.keySize, extents.valueSize) <= mostSize &&
         op.getScale().convertToDouble() > 0;
}

constexpr int64_t mostDecodeRows = 16;

static bool suitsPrefill(AttentionOp op) {
  return AttentionExtents(op).rowsOfSequence > mostDecodeRows && suitsTensorCores(op, 16);
}

/// Chunks of several sequences, each of whose tiles reads its keys once.
static bool hasChunks(AttentionOp op) {
  AttentionExtents extents(op);
  return op.getChunks() && extents.rows > mostDecodeRows && suitsTensorCores(op, 16);
}

/// Of the keys and values of a head of all rows, for which a block has room, since they may be of
/// its row's sequence. Where they took more than those of 16 rows of heads of 128, blocks had less
/// of memory on its way, and steps took longer than with a kernel that writes the caches
/// (docs/notebook/2026-11-26-caches-of-many-rows.md).
constexpr int64_t mostMadeBytes = int64_t(16) * 2 * 128 * 2;

static int64_t madeBytes(AttentionOp op) {
  constexpr int64_t elementBytes = 2;
  AttentionExtents extents(op);
  return op.getQuery().getType().getShape()[0] * (extents.keySize + extents.valueSize) *
         elementBytes;
}

/// Regions of several operations, attention among them.
static Verdict accepts(KernelOp kernel, const CudaTarget&) {
  auto operations = kernel.getBlock().without_terminator();
  if (llvm::hasSingleElement(operations) || llvm::none_of(operations, llvm::IsaPred<AttentionOp>))
    return Verdict::accept();
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  if (!region)
    return region.refusal();
  AttentionOp op = region->attention;
  if (op.getWeights())
    return Refusal{"attention whose weights are a result takes neither rope nor cache writes"};
  Type type = op.getQuery().getType().getElementType();
  bool oneType = llvm::all_of(operations, [&](Operation& other) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(other.getResult(0).getType());
    return !tensor || tensor.getElementType() == type;
  });
  for (HeadRegion::Chain* chain : {&region->query, &region->key, &region->value})
    oneType &= !chain->source ||
               llvm::cast<RankedTensorType>(chain->source.getType()).getElementType() == type;
  if (!oneType || !suitsTensorCores(op, 8))
    return Refusal{
        "attention takes rope and cache writes where tensor cores take its operands: heads of "
        "one 16-bit type in dense or paged caches, multiples of 8 elements and at most 256"};
  int64_t rows = op.getQuery().getType().getShape()[0];
  if (rows > mostDecodeRows && op.getSequences().getType().getNumElements() == 1)
    return Refusal{"attention takes rope and cache writes of at most " +
                   std::to_string(mostDecodeRows) + " rows of one sequence, not of " +
                   std::to_string(rows)};
  if (rows > TensorDecodeKernel::mostMadeRows)
    return Refusal{"attention takes rope and cache writes of at most " +
                   std::to_string(TensorDecodeKernel::mostMadeRows) + " rows, not of " +
                   std::to_string(rows)};
  if (int64_t bytes = madeBytes(op); rows > mostDecodeRows && bytes > mostMadeBytes)
    return Refusal{"attention takes rope and cache writes of more than " +
                   std::to_string(mostDecodeRows) +
                   " rows where their keys and values of a head "
                   "take at most " +
                   std::to_string(mostMadeBytes) + " bytes, not " + std::to_string(bytes)};
  return Verdict::accept();
}

static bool matches(KernelOp kernel, const CudaTarget& target) {
  auto operations = kernel.getBlock().without_terminator();
  return llvm::any_of(operations, llvm::IsaPred<AttentionOp>) && accepts(kernel, target);
}

/// The region's operations one by one keep the orders and schedules that they have inside.
static ScheduleAttr chooseRegion(KernelOp kernel, const CudaTarget& target) {
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  assert(region && "the rule matches");
  for (HeadRegion::Chain* chain : {&region->query, &region->key, &region->value})
    if (chain->norm)
      chain->norm->setAttr(partAttrName, scheduleRows(*chain->norm, target));
  ScheduleAttr schedule = printSchedule(kernel.getContext(), TensorDecodeKernel::name,
                                        chooseTensorDecode(region->attention, target));
  region->attention->setAttr(partAttrName, schedule);
  return schedule;
}

/// Whether `op`, alone in its kernel, is `tensor_decode_attention`.
static bool isTensorDecode(AttentionOp op, const CudaTarget& target) {
  return !op.getWeights() && !suitsPrefill(op) && suitsTensorCores(op, 8, /*mayBeQuants=*/true) &&
         !(hasChunks(op) && chooseHopperAttention(op, target));
}

static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  auto op = soleOp<AttentionOp>(kernel);
  if (!op)
    return chooseRegion(kernel, target);
  op.removeOrderAttr(); // the schedule's parameters fix the order
  MLIRContext* context = kernel.getContext();
  if (isTensorDecode(op, target))
    return printSchedule(context, TensorDecodeKernel::name, chooseTensorDecode(op, target));
  if (op.getWeights())
    return printSchedule(context, DecodeAttentionKernel::name, chooseDecodeAttention(op, target));
  if (suitsPrefill(op) || hasChunks(op))
    if (std::optional<HopperAttentionSchedule> hopper = chooseHopperAttention(op, target))
      return printSchedule(context, HopperAttentionKernel::name, *hopper);
  if (suitsPrefill(op))
    if (std::optional<TensorPrefillSchedule> prefill = chooseTensorPrefill(kernel, op, target))
      return printSchedule(context, TensorPrefillKernel::name, *prefill);
  return printSchedule(context, DecodeAttentionKernel::name, chooseDecodeAttention(op, target));
}

const CudaScheduleRule attention = {matches, choose, nullptr, accepts};

} // namespace tenon::kernels::cuda_rules

namespace tenon::kernels {

bool asksEarly(AttentionOp op, const CudaTarget& target) {
  return cuda_rules::isTensorDecode(op, target) && chooseTensorDecode(op, target).early != 0;
}

} // namespace tenon::kernels
