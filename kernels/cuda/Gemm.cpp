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
  return GemmKernel{op, *schedule};
}

/// The factors' parts of one step, transposed, with four floats of padding a row.
BlockResources GemmKernel::resources() const {
  constexpr int64_t depth = 16, pitch = tile + 4, floatBytes = 4;
  BlockResources resources;
  resources.threads = threads;
  resources.registers = 80;
  resources.staticSmemBytes = 2 * depth * pitch * floatBytes;
  return resources;
}

GemmSchedule chooseGemm(MatmulOp op) {
  constexpr int64_t tile = GemmKernel::tile;
  MatmulExtents extents(op);
  op.setOrderAttr(makeOrder(op->getContext(), /*lanes=*/1));
  int64_t tiles = extents.batches * llvm::divideCeil(extents.rows, tile) *
                  llvm::divideCeil(extents.columns, tile);
  return {tiles, dividingPower(extents.depth, 4)};
}

namespace kinds {
extern constexpr KernelKind gemm = kindOf<GemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
