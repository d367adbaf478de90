#include "kernels/cuda/BlockGemm.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/GemvBulk.h"
#include "kernels/cuda/HeldBlockGemm.h"
#include "kernels/cuda/HeldBlockGemv.h"
#include "kernels/cuda/HeldGemm.h"
#include "kernels/cuda/HopperGemm.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/Rows.h"

using namespace mlir;

namespace tenon::kernels::cuda_rules {

static bool hasGemm(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<MatmulOp>);
}

/// One row is memory's business alone, and two nearly: bulk copies serve them better.
static bool suitsNarrowGemm(const GemmRegion& region, const CudaTarget& target) {
  return (region.rows > 2 || !target.bulkCopies) && acceptsNarrowGemm(region, target);
}

static bool suitsTensorCores(const GemmRegion& region, const CudaTarget& target) {
  return suitsHopperGemm(region, target) || suitsNarrowGemm(region, target) ||
         suitsHeldGemm(region, target) || suitsHeldBlockGemm(region, target) ||
         suitsHeldBlockGemv(region, target) || acceptsBlockGemm(region, target);
}

static Verdict accepts(KernelOp kernel, const CudaTarget& target) {
  if (!hasGemm(kernel))
    return Verdict::accept();
  VerdictOr<GemmRegion> region = readReorderedGemmRegion(kernel);
  if (!region)
    return region.refusal();
  if (region->isReordered())
    return suitsHeldBlockGemv(*region, target)
               ? Verdict::accept()
               : Refusal{"inputs in another order are taken by held_block_gemv alone, of one row"};
  constexpr int64_t mostBulkRows = 8; // of 16 bits; more go to tensor cores
  if (suitsTensorCores(*region, target))
    return Verdict::accept();
  // Bulk copies' kernels decode blocks once for each row.
  if (Verdict verdict = acceptsBlockGemm(*region, target);
      region->rows > 1 && suitsBlockGemm(region->first(), target))
    return verdict;
  for (const GemmRegion::Group& group : region->groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      if (Verdict verdict = acceptsBulkCopies(gemm.op, target); !verdict)
        return region->rows > mostBulkRows ? acceptsNarrowGemm(*region, target) : verdict;
  if (VerdictOr<GemvBulkSchedule> found = chooseGemvBulk(*region, target, Neighbours()); !found)
    return found.refusal();
  return Verdict::accept();
}

/// Regions that the rule `matmul` leaves: several GEMMs, or something before them.
static bool matches(KernelOp kernel, const CudaTarget& target) {
  return hasGemm(kernel) && accepts(kernel, target);
}

/// The schedule of one GEMM of the region alone, with the order that it has in the region.
static ScheduleAttr choosePart(MatmulOp op, const GemmRegion& region, const CudaTarget& target,
                               Neighbours neighbours) {
  GemmRegion alone = regionOfGemm(op);
  op.removeOrderAttr(); // tensor cores have none
  if (suitsHopperGemm(region, target)) {
    HopperGemmSchedule whole = chooseHopperGemm(region, target);
    setHopperGemmOrder(op, whole);
    return printSchedule(op->getContext(), HopperGemmKernel::name,
                         chooseHopperGemm(alone, target, &whole));
  }
  if (suitsHeldGemm(region, target))
    return printSchedule(op->getContext(), HeldGemmKernel::name, chooseHeldGemm(alone, target));
  if (suitsNarrowGemm(region, target))
    return printSchedule(op->getContext(), NarrowGemmKernel::name, chooseNarrowGemm(alone, target));
  if (suitsHeldBlockGemm(region, target))
    return printSchedule(op->getContext(), HeldBlockGemmKernel::name,
                         chooseHeldBlockGemm(alone, target));
  if (acceptsBlockGemm(region, target)) {
    BlockGemmSchedule whole = chooseBlockGemm(region, target);
    return printSchedule(op->getContext(), BlockGemmKernel::name,
                         chooseBlockGemm(alone, target, &whole));
  }
  if (suitsHeldBlockGemv(region, target))
    return printSchedule(op->getContext(), HeldBlockGemvKernel::name,
                         chooseHeldBlockGemv(alone, target));
  op.setOrderAttr(orderForBulkCopies(op));
  VerdictOr<GemvBulkSchedule> found = chooseGemvBulk(alone, target, neighbours);
  return found ? printSchedule(op->getContext(), GemvBulkKernel::name, *found) : ScheduleAttr();
}

static ScheduleAttr chooseWhole(const GemmRegion& region, const CudaTarget& target,
                                Neighbours neighbours) {
  MLIRContext* context = region.first().getContext();
  if (suitsHopperGemm(region, target))
    return printSchedule(context, HopperGemmKernel::name, chooseHopperGemm(region, target));
  if (suitsHeldGemm(region, target))
    return printSchedule(context, HeldGemmKernel::name, chooseHeldGemm(region, target));
  if (suitsNarrowGemm(region, target))
    return printSchedule(context, NarrowGemmKernel::name, chooseNarrowGemm(region, target));
  if (suitsHeldBlockGemm(region, target))
    return printSchedule(context, HeldBlockGemmKernel::name, chooseHeldBlockGemm(region, target));
  if (acceptsBlockGemm(region, target))
    return printSchedule(context, BlockGemmKernel::name, chooseBlockGemm(region, target));
  if (suitsHeldBlockGemv(region, target))
    return printSchedule(context, HeldBlockGemvKernel::name, chooseHeldBlockGemv(region, target));
  VerdictOr<GemvBulkSchedule> found = chooseGemvBulk(region, target, neighbours);
  return found ? printSchedule(context, GemvBulkKernel::name, *found) : ScheduleAttr();
}

/// Each operation keeps the schedule that it has alone, so that the region can be cut into kernels
/// with the same orders.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours neighbours) {
  VerdictOr<GemmRegion> region = readReorderedGemmRegion(kernel);
  assert(region && "the rule matches");
  for (const GemmRegion::Group& group : region->groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      gemm.op->setAttr(partAttrName, choosePart(gemm.op, *region, target, neighbours));
  for (const GemmRegion::Input& input : region->inputs)
    if (input.norm)
      input.norm->setAttr(partAttrName, scheduleRows(*input.norm, target));
  return chooseWhole(*region, target, neighbours);
}

llvm::SmallVector<ScheduleAttr> gemmAlternatives(KernelOp kernel, const CudaTarget& target) {
  return kernel.getScheduleAttr().getEmitter() == HopperGemmKernel::name
             ? hopperGemmAlternatives(kernel, target)
             : gemvBulkAlternatives(kernel, target);
}

const CudaScheduleRule gemms = {matches, choose, nullptr, accepts, gemmAlternatives};

} // namespace tenon::kernels::cuda_rules
