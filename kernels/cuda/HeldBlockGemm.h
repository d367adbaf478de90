#ifndef TENON_KERNELS_CUDA_HELDBLOCKGEMM_H
#define TENON_KERNELS_CUDA_HELDBLOCKGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/GemmRegion.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// How blocks of `held_block_gemm` share out the depth of GEMMs of up to 16 rows of x, all of which
/// their warps hold in registers, and the shared memory that one takes, in bytes
/// (codegen/cuda/device/held_blocks.cuh).
struct HeldBlockShape {
  const Encoding& encoding; ///< of the weights
  int64_t rows;             ///< of x
  int64_t depth;            ///< of every GEMM
  int64_t joined;           ///< GEMMs of a tile

  static constexpr int64_t mostRows = 16, mostJoined = 2, mostWarps = 16, mostCluster = 8;
  static constexpr int64_t pieceElements = 256, lines = 16; ///< of a tile

  static HeldBlockShape of(const GemmRegion& region);

  int64_t pieces() const { return depth / pieceElements; }
  /// Blocks of a cluster, which share out the depth: the fewest, a power of two, whose warps do.
  int64_t cluster() const {
    return static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(pieces(), mostWarps)));
  }
  int64_t warps() const { return llvm::divideCeil(pieces(), cluster()); }
  int64_t rowTiles() const { return llvm::divideCeil(rows, 8); }
  /// Blocks that a multiprocessor has at once.
  int64_t blocksPerSm() const { return cluster() > 1 ? 1 : mostWarps / warps(); }

  /// From a line of a stage to the next: an odd number of 16 bytes.
  int64_t pitch() const { return warps() * encoding.bytesFor(pieceElements) / 16 / 2 * 32 + 16; }
  int64_t stageBytes() const { return llvm::alignTo(lines * pitch(), 128); }
  /// Of two tiles, the sums of all warps.
  int64_t partBytes() const { return 2 * warps() * (160 * rowTiles() + 8) * floatBytes; }
  /// Elements of `tiles` tiles that the blocks of a cluster send to one of them.
  int64_t received(int64_t tiles) const {
    return cluster() > 1 ? tiles * joined * lines * 8 * rowTiles() : 0;
  }
  /// Of a block with `tiles` tiles; barriers take less than 256.
  int64_t bytes(int64_t stages, int64_t tiles) const {
    return stages * stageBytes() + partBytes() + received(tiles) * floatBytes + 256;
  }

private:
  static constexpr int64_t floatBytes = 4;
};

/// How blocks of `held_block_gemm` take a region. `tiles` are blocks, whole clusters of them, which
/// take 16 lines of W in turn, any number of them.
struct HeldBlockGemmSchedule {
  int64_t tiles = 0;
  int64_t threads = 0; ///< a warp a block of a line's elements
  int64_t stages = 0;  ///< of a block's ring
  int64_t early = 0;   ///< of those, filled before the kernel waits; the others after x
  int64_t clusterBlocks = 0;

  static constexpr int64_t mostStages = 8;
  static constexpr Parameter<HeldBlockGemmSchedule> parameters[] = {
      threadsParameter(&HeldBlockGemmSchedule::threads),
      {"stages", &HeldBlockGemmSchedule::stages, 2, mostStages},
      {"early", &HeldBlockGemmSchedule::early, 1, mostStages},
      {"cluster_blocks", &HeldBlockGemmSchedule::clusterBlocks, 1, HeldBlockShape::mostCluster}};
};

/// GEMMs of up to 16 rows of x with weights in blocks of 256 elements on tensor cores, on sm_90 and
/// later, where the warps of a block hold all of x in registers
/// (codegen/cuda/emitters/HeldBlockGemm.cpp).
struct HeldBlockGemmKernel {
  static constexpr llvm::StringLiteral name = "held_block_gemm";
  static constexpr Tuning tuning[] = {
      // The most stages. With five, and less first-level cache for x, gate and up of llama-3.1-8b
      // took 22.0 µs with 8 rows, and not 19.3; with 16 rows a step took 2.769 ms, and not 2.703.
      {"held_block_stages", &CudaTarget::heldBlockStages, 4},
      // Tiles that a block has at least, since all of x is brought for it, of up to 8 rows and of
      // more; with fewer `block_gemm` is faster. The attention output of llama-3.1-8b in Q4_K, two
      // tiles a block, takes 9.2 µs with 16 rows, there 10.0, and a step of 8 layers 0.700 and
      // 0.718 ms; with 8 rows the step takes 0.558, there 0.547 (H200, 2026-11-29). Clusters were
      // not measured with two tiles.
      {"held_block_tiles", &CudaTarget::heldBlockTiles, 3},
      {"held_block_many_tiles", &CudaTarget::heldBlockManyTiles, 2},
      // Early stages of up to 8 rows, and of more. What is on its way delays x, of which 16 rows
      // are as much again: a step of 8 layers of llama-3.1-8b in Q4_K takes 0.683 ms with 16 rows,
      // 0.700 with two early stages (H200, 2026-11-29).
      {"held_block_early", &CudaTarget::heldBlockEarly, 2},
      {"held_block_many_early", &CudaTarget::heldBlockManyEarly, 1}};

  GemmRegion region;
  HeldBlockGemmSchedule schedule;
  HeldBlockShape shape;

  static VerdictOr<HeldBlockGemmKernel> read(KernelOp kernel);
  int64_t tiles() const { return region.tiles(HeldBlockShape::lines); }
  /// Clusters that take tiles in turn; tiles of one of them, at most.
  int64_t workers() const { return schedule.tiles / schedule.clusterBlocks; }
  int64_t tilesOfWorker() const { return llvm::divideCeil(tiles(), workers()); }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether GEMMs of a region with block-quantised weights go to warps that hold x.
bool suitsHeldBlockGemm(const GemmRegion& region, const CudaTarget& target);
/// The schedule that does, for such a region. Sums follow from the depth alone.
HeldBlockGemmSchedule chooseHeldBlockGemm(const GemmRegion& region, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HELDBLOCKGEMM_H
