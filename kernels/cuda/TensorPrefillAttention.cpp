#include "kernels/cuda/TensorPrefillAttention.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/regions/AttentionExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<TensorPrefillKernel> TensorPrefillKernel::read(KernelOp kernel) {
  VerdictOr<TensorPrefillKernel> found = readSole<TensorPrefillKernel>(kernel);
  if (found && found->schedule.keysPerBlock % 16 != 0)
    return Refusal{"expects keys_per_block of 16, 32, 48 or 64, but got " +
                   std::to_string(found->schedule.keysPerBlock)};
  return found;
}

/// Queries, later the results, and two steps of keys and values, rows padded by 16 bytes; the keys
/// that each row sees, and four bounds of them.
BlockResources TensorPrefillKernel::resources() const {
  constexpr int64_t padding = 8, wordBytes = 16, halfBytes = 2, floatBytes = 4;
  AttentionExtents extents(op);
  int64_t rows = schedule.threads / 2 * schedule.rowTiles;
  int64_t keyPitch = detail::saturatingSum({extents.keySize, padding});
  int64_t valuePitch = detail::saturatingSum({extents.valueSize, padding});
  int64_t stepElements = detail::saturatingProduct(
      {schedule.keysPerBlock, detail::saturatingSum({keyPitch, valuePitch})});
  int64_t elements =
      detail::saturatingSum({detail::saturatingProduct({rows, std::max(keyPitch, valuePitch)}),
                             stepElements, stepElements});
  int64_t bytes = detail::saturatingSum({detail::saturatingProduct({halfBytes, elements}),
                                         2 * floatBytes * rows, 4 * floatBytes, wordBytes - 1});
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = schedule.blocksPerSm;
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = detail::saturatingProduct({halfBytes, stepElements}) / resources.threads;
  resources.dynamicSmemBytes = bytes / wordBytes * wordBytes;
  return resources;
}

/// 128 rows a block, or 64 where those would leave multiprocessors idle. The sums of 128 rows of
/// heads of 128 fill the registers, and with 64 keys a block ptxas saves 76 bytes around them; with
/// 32 it saves none and takes longer: 2,048 tokens, 32 heads, 144 and 151 µs (H200, 2026-11-21).
/// Where shared memory does not hold that, fewer rows and keys at a time.
std::optional<TensorPrefillSchedule> chooseTensorPrefill(KernelOp kernel, AttentionOp op,
                                                         const CudaTarget& target) {
  constexpr int64_t leastKeys = 16; // of an instruction of tensor cores
  AttentionExtents extents(op);
  int64_t size = std::max(extents.keySize, extents.valueSize);
  auto tilesOf = [&](int64_t rows) -> int64_t {
    return extents.heads * extents.sequences * llvm::divideCeil(extents.rowsOfSequence, rows);
  };
  int64_t wideTiles = tilesOf(128);
  bool wide = size <= 128 && wideTiles >= target.prefillTilesPerSm * target.sms;
  for (int64_t rowTiles = wide ? 2 : 1; rowTiles >= 1; --rowTiles)
    for (int64_t keys = size <= 128 ? 64 : 32; keys >= leastKeys; keys /= 2) {
      TensorPrefillSchedule schedule = {tilesOf(64 * rowTiles), /*threads=*/128, rowTiles, keys,
                                        size <= 128 ? 2 : 1};
      if (fitsBlock(kernel, TensorPrefillKernel{op, schedule}.resources(), target))
        return schedule;
    }
  return std::nullopt;
}

namespace kinds {
extern constexpr KernelKind tensorPrefillAttention = kindOf<TensorPrefillKernel>();
} // namespace kinds

} // namespace tenon::kernels
