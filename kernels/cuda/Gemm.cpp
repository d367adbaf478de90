#include "kernels/cuda/Gemm.h"

#include "kernels/Schedules.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<GemmKernel> GemmKernel::read(KernelOp kernel) {
  auto op = findOp<MatmulOp>(kernel);
  if (!op)
    return Refusal{"expects a tenon.matmul in a kernel of the emitter gemm"};
  VerdictOr<GemmSchedule> schedule = parseSchedule<GemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (!llvm::isPowerOf2_64(schedule->tile))
    return Refusal{"expects a tile of 16, 32 or 64, but got " + std::to_string(schedule->tile)};
  return GemmKernel{op, *schedule};
}

/// The factors' parts of one step, transposed, with four floats of padding a row.
BlockResources GemmKernel::resources() const {
  constexpr int64_t depth = 16, padding = 4, floatBytes = 4;
  BlockResources resources;
  resources.threads = threads;
  resources.registers = 80;
  resources.staticSmemBytes = 2 * depth * (schedule.tile + padding) * floatBytes;
  return resources;
}

GemmSchedule chooseGemm(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t leastTile = 16;
  MatmulExtents extents(op);
  op.setOrderAttr(makeOrder(op->getContext(), /*lanes=*/1));
  GemmSchedule schedule;
  schedule.vector = dividingPower(extents.depth, 4);
  auto tilesOf = [&](int64_t tile) {
    return static_cast<int64_t>(extents.batches * llvm::divideCeil(extents.rows, tile) *
                                llvm::divideCeil(extents.columns, tile));
  };
  while (schedule.tile > leastTile && tilesOf(schedule.tile) < target.sms)
    schedule.tile /= 2;
  schedule.tiles = tilesOf(schedule.tile);
  return schedule;
}

namespace kinds {
extern constexpr KernelKind gemm = kindOf<GemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
