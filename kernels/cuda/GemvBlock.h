#ifndef TENON_KERNELS_CUDA_GEMVBLOCK_H
#define TENON_KERNELS_CUDA_GEMVBLOCK_H

#include "kernels/regions/GemmRegion.h"

namespace tenon::kernels {

/// What blocks that own whole lines of a region of few rows keep in shared memory beside weights. A
/// line is one column of every GEMM of a group; a block has the lines [tile · lines / tiles,
/// (tile + 1) · lines / tiles). Inputs lie there; then, one after the other in the same
/// place, sums of the chunks of norms and partial sums of the block's lines.
struct GemvBlock {
  /// Where the partial sums of a GEMM stand among those of a line, in ascending order.
  struct Sums {
    int64_t first = 0, count = 0;
  };
  llvm::SmallVector<Sums, 2> sums; ///< of each GEMM of a group
  int64_t sumsOfLine = 0;          ///< from the first of a line to the first of the next
  int64_t tiles = 0, linesPerTile = 0;
  int64_t warps = 0, vector = 0; ///< elements that a lane takes at once
  bool hasOtherWarps = false;    ///< after these, which never meet them
  int64_t inputVector = 0;       ///< elements of an input of 16 bytes, at most `vector`
  llvm::SmallVector<int64_t, 2> inputOffsets; ///< bytes from the start of shared memory
  int64_t resultsOffset = 0;                  ///< of norms' chunk sums, then of partial sums
  int64_t smemBytes = 0;

  /// Those that make inputs and results: of the warps that meet.
  int64_t threads() const { return 32 * warps; }
  /// Elements of a row of an input in shared memory: whole lanes.
  int64_t paddedDepth(int64_t depth) const;
  /// Room for the sums of a norm's chunks, of 64 elements and more, in floats that 16 bytes divide.
  static int64_t chunkSums(int64_t depth);
  /// Places inputs, unless they are read where they lie, and sums from `offset` bytes on, once the
  /// rest is set.
  void place(const GemmRegion& region, int64_t offset, bool keepsInputs = true);
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMVBLOCK_H
