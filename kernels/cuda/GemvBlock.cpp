#include "kernels/cuda/GemvBlock.h"

#include "ir/encoding/Encoding.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static int64_t bytesOf(Value value) {
  return getEncoding(llvm::cast<RankedTensorType>(value.getType()).getElementType())->blockBytes;
}

int64_t GemvBlock::paddedDepth(int64_t depth) const { return llvm::alignTo(depth, 32 * vector); }

int64_t GemvBlock::chunkSums(int64_t depth) {
  constexpr int64_t leastChunk = 64, floatsOfWord = 4;
  return llvm::alignTo(llvm::divideCeil(depth, leastChunk), floatsOfWord);
}

/// Of a norm a mean's sums and the squares'.
void GemvBlock::place(const GemmRegion& region, int64_t offset, bool keepsInputs) {
  constexpr int64_t floatBytes = 4, sumsOfNorm = 2, wordBytes = 16;
  linesPerTile = llvm::divideCeil(region.lines, tiles);
  inputVector = std::min(vector, wordBytes / bytesOf(region.inputs.front().value));
  int64_t normSums = 0;
  for (const GemmRegion::Input& input : region.inputs) {
    inputOffsets.push_back(offset);
    if (keepsInputs)
      offset +=
          llvm::alignTo(region.rows * paddedDepth(input.depth) * bytesOf(input.value), wordBytes);
    if (input.norm)
      normSums += sumsOfNorm * region.rows * chunkSums(input.depth);
  }
  resultsOffset = offset;
  smemBytes = offset + std::max(normSums, linesPerTile * sumsOfLine * region.rows) * floatBytes;
}

} // namespace tenon::kernels
