#include "kernels/cuda/Gemv.h"

#include "kernels/Schedules.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<GemvKernel> GemvKernel::read(KernelOp kernel) {
  auto op = findOp<MatmulOp>(kernel);
  if (!op)
    return Refusal{"expects a tenon.matmul in a kernel of the emitter gemv"};
  VerdictOr<GemvSchedule> schedule = parseSchedule<GemvSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return GemvKernel{op, *schedule};
}

int64_t registersOfSums(int64_t sums) {
  constexpr int64_t least = 64, sumsOfLeast = 16, most = BlockResources::mostRegisters;
  int64_t more = tenon::detail::saturatingProduct({2, std::max<int64_t>(sums - sumsOfLeast, 0)});
  return std::min<int64_t>(most, llvm::alignTo(least + std::min(more, most), 8));
}

/// Partial sums of each warp; loads unrolled four times, the words of blocks and their parts.
BlockResources GemvKernel::resources() const {
  constexpr int64_t unrolled = 4, leastOfBlocks = 128, floatBytes = 4, wordBytes = 16;
  int64_t rows = MatmulExtents(op).rows, columns = schedule.columnsPerWarp;
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.registers =
      registersOfSums(tenon::detail::saturatingProduct({rows, columns, schedule.vector}));
  if (getEncoding(MatmulOp(op).getWeight().getType().getElementType())->isBlockQuantized())
    resources.registers =
        std::clamp<int64_t>(resources.registers + 16, leastOfBlocks, BlockResources::mostRegisters);
  resources.bytesAThread = unrolled * wordBytes * columns;
  resources.staticSmemBytes =
      tenon::detail::saturatingProduct({floatBytes * (schedule.threads / 32), rows, columns});
  return resources;
}

/// Chunks of whole lanes, one a warp: enough warps that few rows of W still fill the memory system
/// (`gemv_warps` of the target).
static int64_t chooseSplit(const MatmulExtents& extents, int64_t lanes, int64_t warps,
                           const CudaTarget& target) {
  for (int64_t split = warps; split > 1; split /= 2) {
    int64_t chunk = llvm::alignTo(llvm::divideCeil(extents.depth, split), lanes);
    bool useful = extents.batches * extents.columns * (split / 2) < target.gemvWarps;
    if (useful && chunk >= 2 * lanes &&
        llvm::divideCeil(extents.depth, chunk) == static_cast<uint64_t>(split))
      return split;
  }
  return 1;
}

GemvSchedule chooseGemv(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t threads = 256, warps = threads / 32;
  MatmulExtents extents(op);
  GemvSchedule schedule;
  schedule.threads = threads;
  schedule.vector =
      dividingPower(extents.depth, op.getWeight().getType().getElementType().isF32() ? 4 : 8);
  schedule.columnsPerWarp = extents.rows == 1 && extents.columns >= 16384 ? 2 : 1;
  int64_t lanes = 32 * schedule.vector;
  schedule.split = chooseSplit(extents, lanes, warps, target);
  int64_t chunk = schedule.split == 1
                      ? 0
                      : llvm::alignTo(llvm::divideCeil(extents.depth, schedule.split), lanes);
  op.setOrderAttr(makeOrder(op->getContext(), lanes, chunk));
  int64_t perTile = warps / schedule.split * schedule.columnsPerWarp;
  schedule.tiles = extents.batches * llvm::divideCeil(extents.columns, perTile);
  return schedule;
}

namespace kinds {
extern constexpr KernelKind gemv = kindOf<GemvKernel>();
} // namespace kinds

} // namespace tenon::kernels
