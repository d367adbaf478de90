#ifndef TENON_KERNELS_CUDA_HELDBLOCKGEMV_H
#define TENON_KERNELS_CUDA_HELDBLOCKGEMV_H

#include <numeric>

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/cuda/GemvBlock.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// How blocks of `held_block_gemv` take the lines of GEMMs of one row of x, which their warps hold
/// in slices of 256 elements (codegen/cuda/device/held_row.cuh). A
/// line's slices are cut into parts, of which each warp of a group has a slice. It follows from the
/// weights alone, and so do sums.
///
/// Parts begin where bulk copies and blocks of more than 256 elements can: a multiple of `unit`
/// slices from the line's beginning.
///
/// Example: of q4_k lines of 4,096 elements are one part of 16 slices, one a warp; of 14,336
/// elements 4 parts of 14; of 1,024 elements one part of 4, for two groups of warps. Of
/// int4_g128x8_f16, whose blocks are 4 slices, 14,336 elements are three parts of 16 and one of 8.
struct HeldRowShape {
  const Encoding& encoding; ///< of the weights
  int64_t depth;            ///< of every GEMM
  int64_t joined;           ///< GEMMs of a line

  static constexpr int64_t sliceElements = 256, lines = 16; ///< of a tile
  static constexpr int64_t mostWarps = 16, mostParts = 8, mostJoined = 2;

  static HeldRowShape of(const GemmRegion& region);

  int64_t sliceBytes() const { return sliceElements * encoding.blockBytes / encoding.blockSize; }
  int64_t slices() const { return depth / sliceElements; }
  int64_t unit() const {
    constexpr int64_t copied = 16; // bytes, and what copies are multiples of
    int64_t ofBlock = llvm::divideCeil(encoding.blockSize, sliceElements);
    return std::lcm(ofBlock, copied / std::gcd(copied, sliceBytes()));
  }
  int64_t parts() const {
    constexpr int64_t mostStageBytes = 40 << 10; // several stages fit
    int64_t most = std::min(mostWarps, mostStageBytes / (lines * sliceBytes()));
    return llvm::divideCeil(slices() / unit(), most / unit());
  }
  int64_t segments() const { return llvm::divideCeil(slices() / unit(), parts()) * unit(); }
  int64_t groups() const {
    constexpr int64_t leastWarps = 8; // that keep up with memory
    return parts() > 1 ? 1 : std::max<int64_t>(1, leastWarps / segments());
  }
  int64_t warps() const { return groups() * segments(); } ///< that multiply
  int64_t threads() const { return 32 * (warps() + 1); }  ///< and those of the warp that brings

  /// From a line of a stage to the next: 16 bytes more than a multiple of 128.
  int64_t pitch() const { return llvm::alignTo(segments() * sliceBytes() - 16, 128) + 16; }
  int64_t stageBytes() const { return lines * pitch(); }
  /// All that a stage takes: beside its bytes sums that warps leave, each line's on other banks
  /// than the next one's, and barriers.
  int64_t stageRoom() const {
    constexpr int64_t floatBytes = 4, barrierBytes = 32; // and what aligns what follows
    return stageBytes() + lines * (segments() | 1) * floatBytes + barrierBytes;
  }
  /// What warps make of x: elements of a slice, sums of four threads, a power of two.
  int64_t inputBytes() const { return warps() * parts() * 560; }
};

/// How `held_block_gemv` takes a region. `tiles` are blocks, which own lines.
struct HeldBlockGemvSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t stages = 0;  ///< of a block's ring, a part of 16 lines each
  int64_t batches = 1; ///< of a stage's lines, which memory is asked for one after the other
  int64_t onWay = 0;   ///< batches that memory is asked for at once

  static constexpr int64_t mostStages = 16;
  static constexpr Parameter<HeldBlockGemvSchedule> parameters[] = {
      threadsParameter(&HeldBlockGemvSchedule::threads),
      {"stages", &HeldBlockGemvSchedule::stages, 1, mostStages},
      {"batches", &HeldBlockGemvSchedule::batches, 2, 2, /*absent=*/1},
      {"on_way", &HeldBlockGemvSchedule::onWay, 1, mostStages}};
};

/// GEMMs of one row of x with quantised weights on tensor cores, on sm_90 and later, where the
/// warps of a block hold x in registers (codegen/cuda/emitters/HeldBlockGemv.cpp).
struct HeldBlockGemvKernel {
  static constexpr llvm::StringLiteral name = "held_block_gemv";
  static constexpr Tuning tuning[] = {
      // A layer of the 8B in Q4_K alone, with 3, 4 and 5 stages of 37 KB 43.2, 43.0 and 43.9 µs; of
      // 4 and 5, two of them on their way, 42.9 and 43.0, one 52.0
      // (docs/notebook/2026-11-28-kernels-by-turns.md). Of shorter lines as many bytes. Half a unit
      // less where blocks have few: docs/notebook/2026-11-28-preferences-of-a-part.md.
      {"row_ring_stages", &CudaTarget::rowRingStages, 4},
      {"row_on_way_bytes", &CudaTarget::rowOnWayBytes, 72 << 10},
      {"row_few_units", &CudaTarget::rowFewUnits, 4}};

  GemmRegion region;
  HeldBlockGemvSchedule schedule;
  HeldRowShape shape;
  GemvBlock block;

  static VerdictOr<HeldBlockGemvKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether warps load x where it lies in memory, as it is, and nobody else asks for it.
bool loadsInput(const GemmRegion& region);
/// Whether GEMMs of a region go to warps that hold x, and their schedule if so. Sums follow from
/// the weights alone.
bool suitsHeldBlockGemv(const GemmRegion& region, const CudaTarget& target);
HeldBlockGemvSchedule chooseHeldBlockGemv(const GemmRegion& region, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HELDBLOCKGEMV_H
