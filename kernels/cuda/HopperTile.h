#ifndef TENON_KERNELS_CUDA_HOPPERTILE_H
#define TENON_KERNELS_CUDA_HOPPERTILE_H

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// How blocks of `hopper_gemm` divide y = x · Wᵀ of 16-bit factors, or several such of one x,
/// groups of rows of W (codegen/cuda/device/hopper_gemm.cuh). Two warpgroups multiply tiles of A ·
/// Bᵀ on tensor cores; A is x and B is W, or the other way round. A tile is one group's.
struct HopperTile {
  int64_t blocks;     ///< of 64 rows of A that a warpgroup has, 1 or 2
  int64_t columns;    ///< rows of B in a tile, a multiple of 16 up to 256
  bool pingPong;      ///< warpgroups take tiles in turn, or else share a tile's rows of A
  bool weightRows;    ///< A is W
  int64_t clusterA;   ///< blocks of a cluster in the direction of A's rows, which share B
  int64_t clusterB;   ///< of B's, which share A
  int64_t split;      ///< that have the same tile, and a part of K each
  int64_t gemms;      ///< 1, or 2 that one epilogue joins: a tile has the same rows of both weights
  int64_t stages = 0; ///< of the ring, 64 elements of K each
  /// Of block-quantised W, which is then A: pieces of 256 elements of its ring, bytes from a line
  /// of one to the next, and of the factors that a line of one has. 0 pieces: W has 16 bits.
  int64_t pieces = 0, linePitch = 0, factorBytes = 0;

  static constexpr int64_t depth = 64, consumers = 2, elementBytes = 2, pieceDepth = 256;

  int64_t rows() const { return 64 * blocks * (pingPong ? 1 : consumers); } ///< of A
  int64_t rowsOfX() const { return weightRows ? columns : rows(); }
  int64_t rowsOfW() const { return weightRows ? rows() : columns; }
  int64_t cluster() const { return clusterA * clusterB * split; }
  /// Elements of K of a part, whole stages, or pieces; the last one may have fewer.
  int64_t partDepth(int64_t k) const {
    int64_t unit = pieces > 0 ? pieceDepth : depth;
    return llvm::divideCeil(llvm::divideCeil(k, unit), split) * unit;
  }
  /// Whether every part of K has some.
  bool fillsParts(int64_t k) const { return (split - 1) * partDepth(k) < k; }
  /// Rows of x, of W that one copy brings: of a tile's, this block's share.
  int64_t boxOfX() const { return weightRows ? columns / clusterA : rows() / clusterB; }
  int64_t boxOfW() const { return (weightRows ? rows() / clusterB : columns / clusterA) / gemms; }
  /// Whether warpgroups can have it: whole instructions, whole swizzled rows in each box, at most
  /// 192 registers of sums a thread, a GEMM in each block of 64 rows of A.
  bool isPossible() const;

  /// Tiles of y [m, n] for each n of `widths`, the groups', in the direction of W; of A, of B;
  /// clusters of them.
  int64_t weightTiles(llvm::ArrayRef<int64_t> widths) const;
  int64_t rowTiles(int64_t m, llvm::ArrayRef<int64_t> widths) const {
    return weightRows ? weightTiles(widths) : llvm::divideCeil(m, rows());
  }
  int64_t columnTiles(int64_t m, llvm::ArrayRef<int64_t> widths) const {
    return weightRows ? llvm::divideCeil(m, columns) : weightTiles(widths);
  }
  int64_t units(int64_t m, llvm::ArrayRef<int64_t> widths) const {
    return llvm::divideCeil(rowTiles(m, widths), clusterA) *
           llvm::divideCeil(columnTiles(m, widths), clusterB);
  }
  /// Units that one after the other go down the rows of A: what `clusters` of them take at a time
  /// is as near to a square as the tiles allow.
  int64_t band(int64_t m, llvm::ArrayRef<int64_t> widths, int64_t clusters) const;

  /// A third warpgroup leaves the two its registers where they hold more than 64 sums a thread.
  bool movesRegisters() const { return blocks * columns > 128; }
  /// Registers of a thread for what an epilogue loads of a chunk of columns, beside the sums and
  /// what else it has: the next chunk's are on their way meanwhile.
  int64_t operandRegisters() const {
    constexpr int64_t moved = 232, atEntry = 168, rest = 44;
    return ((movesRegisters() ? moved : atEntry) - rest - blocks * columns / 2) / 2;
  }
  int64_t threads() const { return movesRegisters() ? 384 : pieces > 0 ? 320 : 288; }
  static constexpr int64_t consumerThreads() { return 128 * consumers; } ///< those that multiply
  int64_t stageBytes() const {
    return ((pieces > 0 ? 0 : rows()) + columns) * depth * elementBytes;
  }
  /// Of the ring of pieces, its barriers, and the factors of each warp's lines.
  int64_t pieceBytes() const {
    constexpr int64_t barrierBytes = 8, linesOfWarp = 16;
    return pieces * (rows() * linePitch + 2 * barrierBytes) +
           4 * consumers * blocks * linesOfWarp * factorBytes;
  }
  /// Warps that have a tile's sums; where K is split, those of one tile that a block adds up.
  int64_t warps() const { return 4 * (pingPong ? 1 : consumers); }
  int64_t ownWarps() const { return llvm::divideCeil(warps(), split); }
  /// Of the sums of the other parts of K, in f32, what a block gets.
  int64_t exchangeBytes() const {
    constexpr int64_t sumBytes = 4, rowsOfWarp = 16;
    return (split - 1) * ownWarps() * rowsOfWarp * blocks * columns * sumBytes;
  }
  /// Whether what each warp's 16 rows have of a result of elements of `resultBytes` is whole boxes
  /// of 64 columns, which a tensor map stores.
  static constexpr int64_t boxOfResult = 16;
  bool fillsBoxes(int64_t resultBytes) const {
    return !weightRows && columns / gemms % 64 == 0 && resultBytes == elementBytes;
  }
  static constexpr int64_t smemUnit = 1024; ///< the swizzled ring begins at a multiple of it
  /// Shared memory of a block: the ring, what each warp's 16 rows have in 64 columns of each
  /// GEMM in elements of `resultBytes`, or of a GEMM and one that is stored meanwhile, two
  /// barriers a stage; the sums of other parts of K and their barriers.
  int64_t smemBytes(int64_t resultBytes) const {
    constexpr int64_t barrierBytes = 8, vectorBytes = 16;
    int64_t planes = fillsBoxes(resultBytes) ? 2 : gemms;
    int64_t bytes = stages * (stageBytes() + 2 * barrierBytes) +
                    4 * consumers * planes * boxOfResult * 64 * resultBytes;
    if (split > 1)
      bytes = llvm::alignTo(bytes, vectorBytes) + exchangeBytes() + ownWarps() * barrierBytes;
    if (pieces > 0)
      bytes = llvm::alignTo(bytes, vectorBytes) + pieceBytes();
    return llvm::alignTo(bytes, smemUnit);
  }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HOPPERTILE_H
