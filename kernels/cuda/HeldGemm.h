#ifndef TENON_KERNELS_CUDA_HELDGEMM_H
#define TENON_KERNELS_CUDA_HELDGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/GemmRegion.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// How a block of `held_gemm` divides GEMMs of up to 16 rows of x, all of which its warps hold
/// in registers (codegen/cuda/device/held.cuh).
struct HeldGemmShape {
  int64_t rows;   ///< of x
  int64_t depth;  ///< of every GEMM
  int64_t joined; ///< GEMMs of a tile
  int64_t lines;  ///< rows of W of a tile

  static constexpr int64_t mostRows = 16, mostWarps = 16, mostLines = 32;
  /// Elements of the depth that a warp has, which are those of a norm's chunk, and of a piece of W.
  static constexpr int64_t sliceElements = 256, pieceElements = 128, unitLines = 8;

  /// Whether blocks can hold the region's inputs.
  static Verdict accepts(const GemmRegion& region);
  static HeldGemmShape of(const GemmRegion& region, int64_t lines) {
    return {region.rows, region.depths().front(), region.joined(), lines};
  }

  int64_t warps() const { return llvm::divideCeil(depth, sliceElements); }
  /// Tiles of 8 rows of x; runs of 8 rows of W of a tile.
  int64_t rowTiles() const { return llvm::divideCeil(rows, 8); }
  int64_t units() const { return llvm::divideCeil(lines, unitLines); }
  /// Floats of a warp's sums of a GEMM of a tile; of the sums of a norm's chunks.
  int64_t sumFloats() const { return units() * rowTiles() * 8 * unitLines; }
  int64_t chunkFloats() const { return rowTiles() * 8 * mostWarps; }

  /// Bytes of shared memory: of a piece, whose rows are kept on different banks; of a warp's ring;
  /// of all sums; of a block, where a norm in front has two sums of chunks.
  static constexpr int64_t stageBytes = unitLines * (pieceElements + 32) * 2;
  static int64_t ringBytes(int64_t stages) { return stages * stageBytes + 128; }
  int64_t sumBytes() const { return warps() * joined * sumFloats() * 4; }
  int64_t bytes(int64_t stages, bool hasNorm) const {
    return warps() * ringBytes(stages) + sumBytes() + (hasNorm ? 2 * chunkFloats() * 4 : 0);
  }
};

/// How blocks of `held_gemm` take a region. `tiles` are blocks that take such rows of W in turn,
/// any number of them.
struct HeldGemmSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;   ///< a warp a slice of the depth
  int64_t stages = 0;    ///< of a warp's ring
  int64_t tileLines = 0; ///< rows of W of a tile

  static constexpr int64_t mostStages = 16;
  static constexpr Parameter<HeldGemmSchedule> parameters[] = {
      threadsParameter(&HeldGemmSchedule::threads),
      {"stages", &HeldGemmSchedule::stages, 1, mostStages},
      {"tile_lines", &HeldGemmSchedule::tileLines, 1, HeldGemmShape::mostLines}};
};

/// GEMMs of up to 16 rows of x on tensor cores, on sm_90 and later, where the warps of a block
/// hold all of x in registers (codegen/cuda/emitters/HeldGemm.cpp).
struct HeldGemmKernel {
  static constexpr llvm::StringLiteral name = "held_gemm";
  static constexpr int64_t mostJoined = 4;

  GemmRegion region;
  HeldGemmSchedule schedule;
  HeldGemmShape shape;

  static VerdictOr<HeldGemmKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether GEMMs of 3 to 16 rows go to tensor cores from warps that hold x.
bool suitsHeldGemm(const GemmRegion& region, const CudaTarget& target);
/// The schedule that does, for a region without an order for its GEMMs.
HeldGemmSchedule chooseHeldGemm(const GemmRegion& region, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HELDGEMM_H
