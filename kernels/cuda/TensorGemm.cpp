#include "kernels/cuda/TensorGemm.h"

#include "kernels/Schedules.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<TensorGemmKernel> TensorGemmKernel::read(KernelOp kernel) {
  auto op = findOp<MatmulOp>(kernel);
  if (!op)
    return Refusal{"expects a tenon.matmul in a kernel of the emitter tensor_gemm"};
  VerdictOr<TensorGemmSchedule> schedule =
      parseSchedule<TensorGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (schedule->tileRows != 64 && schedule->tileRows != 128)
    return Refusal{"expects tile_rows of 64 or 128, but got " + std::to_string(schedule->tileRows)};
  return TensorGemmKernel{op, *schedule};
}

/// A ring of three stages of 32 elements of the depth, rows padded to 40; two are on their way.
BlockResources TensorGemmKernel::resources() const {
  constexpr int64_t pitchBytes = 80, stages = 3;
  int64_t stageBytes = (schedule.tileRows + tileColumns) * pitchBytes;
  BlockResources resources;
  resources.threads = threads;
  resources.registers = 64 + schedule.tileRows / 2;
  resources.tensorCores = true;
  resources.dynamicSmemBytes = stages * stageBytes;
  resources.bytesAThread = (stages - 1) * stageBytes / threads;
  return resources;
}

/// Tiles of 128 rows, or of 64 where those would leave multiprocessors without work.
TensorGemmSchedule chooseTensorGemm(MatmulOp op, const CudaTarget& target) {
  MatmulExtents extents(op);
  auto tiles = [&](int64_t rows) {
    return static_cast<int64_t>(llvm::divideCeil(extents.rows, rows) *
                                llvm::divideCeil(extents.columns, TensorGemmKernel::tileColumns));
  };
  int64_t tileRows = extents.rows > 64 && tiles(128) >= target.sms ? 128 : 64;
  return {tiles(tileRows), tileRows};
}

namespace kinds {
extern constexpr KernelKind tensorGemm = kindOf<TensorGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
