#ifndef TENON_KERNELS_CUDA_BLOCKGEMM_H
#define TENON_KERNELS_CUDA_BLOCKGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/GemmRegion.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// Shared memory of a block of `block_gemm`, in bytes: for each warp a ring of pieces of the lines
/// of a tile, what the groups of a piece are multiplied with, and the warp's part of the sums of 16
/// lines (codegen/cuda/device/block_gemm.cuh).
struct BlockGemmMemory {
  const Encoding& encoding; ///< of the weights
  int64_t rows;             ///< of x that a tile has
  int64_t lines;            ///< of W that a warp has of a tile

  static constexpr int64_t pieceElements = 256, unitLines = 16;

  int64_t rowTiles() const { return llvm::divideCeil(rows, 8); }
  /// Runs of 16 lines.
  int64_t units() const { return llvm::divideCeil(lines, unitLines); }
  /// 16 bytes of a line that a piece takes, at most.
  int64_t chunks() const;
  /// From a line of a stage to the next: 32 bytes off a multiple of 64, so that the loads of a warp
  /// seldom meet a bank twice.
  int64_t pitch() const { return llvm::alignTo(16 * chunks() + 32, 64) - 32; }
  int64_t stageBytes() const { return units() * unitLines * pitch(); }
  /// Sums of a piece with factors of their own: of groups of 32 elements or 16.
  int64_t sums() const;
  /// Of a piece: two factors a line for each sum.
  int64_t factorBytes() const;
  int64_t partBytes() const;
  int64_t warpBytes(int64_t stages) const {
    return stages * stageBytes() + factorBytes() + partBytes();
  }
};

/// How blocks of `block_gemm` take a region. `tiles` are blocks that take such lines of W, each
/// with some rows of x, in turn; any number of them.
struct BlockGemmSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t stages = 0;      ///< of a warp's ring
  int64_t tileLines = 0;   ///< lines of W of a tile
  int64_t tileRows = 0;    ///< rows of x of a tile
  int64_t lineWarps = 0;   ///< warps that share out a tile's lines
  int64_t blocksPerSm = 0; ///< that registers leave room for

  static constexpr int64_t mostWarpLines = 32, mostRows = 16, mostLineWarps = 4;
  static constexpr int64_t mostLines = mostLineWarps * mostWarpLines;
  static constexpr Parameter<BlockGemmSchedule> parameters[] = {
      threadsParameter(&BlockGemmSchedule::threads),
      {"stages", &BlockGemmSchedule::stages, 1, 8},
      {"tile_lines", &BlockGemmSchedule::tileLines, 1, mostLines},
      {"tile_rows", &BlockGemmSchedule::tileRows, 1, mostRows},
      {"line_warps", &BlockGemmSchedule::lineWarps, 1, mostLineWarps},
      {"blocks_per_sm", &BlockGemmSchedule::blocksPerSm, 1, 32}};
};

/// GEMMs of several rows of x with block-quantised weights, whose quants tensor cores multiply
/// as integers (codegen/cuda/emitters/BlockGemm.cpp).
struct BlockGemmKernel {
  static constexpr llvm::StringLiteral name = "block_gemm";
  static constexpr int64_t mostRows = 128, mostJoined = 2;

  GemmRegion region;
  BlockGemmSchedule schedule;

  static VerdictOr<BlockGemmKernel> read(KernelOp kernel);
  const Encoding& encoding() const;
  int64_t warps() const { return schedule.threads / 32; }
  /// Tiles that take the same lines, each with other rows.
  int64_t rowParts() const { return llvm::divideCeil(region.rows, schedule.tileRows); }
  BlockGemmMemory memory() const {
    return {encoding(), schedule.tileRows,
            static_cast<int64_t>(llvm::divideCeil(schedule.tileLines, schedule.lineWarps))};
  }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether the kind takes a GEMM, wherever its input lies.
bool suitsBlockGemm(MatmulOp op, const CudaTarget& target);
/// Whether tensor cores multiply the quants of a region's weights with several rows of x.
Verdict acceptsBlockGemm(const GemmRegion& region, const CudaTarget& target);
/// The schedule that does, of an accepted region; of one of its GEMMs alone where `whole` is the
/// region's, which adds alike.
BlockGemmSchedule chooseBlockGemm(const GemmRegion& region, const CudaTarget& target,
                                  const BlockGemmSchedule* whole = nullptr);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_BLOCKGEMM_H
