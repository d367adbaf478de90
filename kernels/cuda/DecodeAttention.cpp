#include "kernels/cuda/DecodeAttention.h"

#include "kernels/cuda/DecodeRing.h"
#include "kernels/regions/AttentionExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr int64_t wordBytes = 16;

/// Elements of values of one load, which divide a head; of quants those of four bytes, to which
/// heads are aligned.
static int64_t valueVector(const AttentionExtents& extents) {
  constexpr int64_t quantsOfWord = 4;
  if (llvm::isa<BlockType>(extents.valueElement))
    return dividingPower(extents.valueSize, quantsOfWord);
  return dividingPower(extents.valueSize,
                       wordBytes / getEncoding(extents.valueElement)->blockBytes);
}

/// Query, scores of a step, and sums of each group of threads that shares a value; where several
/// blocks share a row, whether this one arrived last.
BlockResources DecodeAttentionKernel::resources() const {
  constexpr int64_t batch = 4; // keys on their way together
  constexpr int64_t floatBytes = 4, arrivalBytes = 1;
  AttentionExtents extents(op);
  int64_t heads = schedule.headsPerTile, block = schedule.keysPerBlock;
  int64_t vector = valueVector(extents);
  int64_t groups = schedule.threads / std::max<int64_t>(extents.valueSize / vector, 1);
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.registers = 52 + heads * (vector + 1) + batch * (heads + vector);
  resources.bytesAThread = batch * wordBytes;
  resources.dynamicSmemBytes = detail::saturatingProduct(
      {floatBytes,
       detail::saturatingSum({detail::saturatingProduct({heads, extents.keySize}),
                              heads * block + 3 * heads,
                              detail::saturatingProduct({groups, heads, extents.valueSize})})});
  resources.staticSmemBytes = schedule.splits > 1 ? llvm::alignTo(arrivalBytes, wordBytes) : 0;
  return resources;
}

PriceTerms DecodeAttentionKernel::priceTerms() const {
  PriceTerms terms;
  terms.keySteps = {.capacity = AttentionExtents(op).capacity,
                    .splits = schedule.splits,
                    .stepKeys = schedule.threads / 32 * decodeStepKeys};
  return terms;
}

/// Few rows: parts of at least 128 keys, so that one row fills the device. Many rows fill it by
/// themselves, and each takes its keys in one go, as where the weights are a result: they are known
/// when the last key is.
DecodeAttentionSchedule chooseDecodeAttention(AttentionOp op, const CudaTarget& target) {
  constexpr int64_t keysPerBlock = 128, mostSplits = 64;
  AttentionExtents extents(op);
  int64_t heads = extents.headsPerTile();
  int64_t units = extents.rows * (extents.heads / heads);
  int64_t splits =
      op.getWeights()
          ? 1
          : std::min(std::clamp<int64_t>(2 * target.sms / units, 1, mostSplits),
                     static_cast<int64_t>(llvm::divideCeil(extents.capacity, keysPerBlock)));
  int64_t threads =
      std::max<int64_t>(128, llvm::PowerOf2Ceil(extents.valueSize / valueVector(extents)));
  return {units * splits, threads, heads, splits, keysPerBlock};
}

namespace kinds {
extern constexpr KernelKind decodeAttention = kindOf<DecodeAttentionKernel>();
} // namespace kinds

} // namespace tenon::kernels
