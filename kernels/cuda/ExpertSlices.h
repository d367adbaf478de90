#ifndef TENON_KERNELS_CUDA_EXPERTSLICES_H
#define TENON_KERNELS_CUDA_EXPERTSLICES_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/ExpertRegion.h"

namespace tenon::kernels {

/// How warps of `expert_slices` share out GEMMs with experts, and the shared memory that a block
/// takes, in bytes (codegen/cuda/device/expert_slices.cuh).
///
/// Example: gate and up of 2,048 elements in q4_k: 8 slices; a unit is 8 columns of both. Down of
/// 768 elements, summed over 8 experts: 3 slices; a unit is 8 columns of two experts, and every
/// 8 columns are 4 units.
struct ExpertSliceShape {
  static constexpr int64_t sliceElements = 256, octet = 8, mostWarps = 24;

  const Encoding& encoding; ///< of the weights
  int64_t depth;
  int64_t gemms;
  int64_t parts;       ///< units of the same columns: 1 or, beside a weighted sum, pairs of experts
  int64_t unitColumns; ///< that a unit takes: one octet of 8 lines or, of one GEMM alone, two

  explicit ExpertSliceShape(const ExpertRegion& region);

  int64_t slices() const; ///< of the depth, a warp each
  int64_t lineBytes() const;
  /// From a line of a stage to the next: an odd number of 16 bytes, so that loads meet few banks
  /// twice.
  int64_t pitch() const;
  /// Of a block with so many columns.
  int64_t units(int64_t columns) const;
  int64_t stageBytes() const;
  /// Of a block: rings, sums of all slices, barriers.
  int64_t bytes(int64_t columns, int64_t groups, int64_t stages) const;
};

/// How blocks of `expert_slices` take the columns of the experts.
struct ExpertSlicesSchedule {
  int64_t tiles = 0;
  int64_t threads = 0; ///< warps are whole groups, a slice of the depth each
  int64_t columns = 0; ///< of a tile, of one pair of a row and an expert or of all that are summed
  int64_t stages = 0;  ///< units in the ring of a group

  static constexpr Parameter<ExpertSlicesSchedule> parameters[] = {
      threadsParameter(&ExpertSlicesSchedule::threads),
      {"columns", &ExpertSlicesSchedule::columns, 8, 1024},
      {"stages", &ExpertSlicesSchedule::stages, 1, 16}};
};

/// GEMMs of rows with the experts that they choose on tensor cores, of weights in blocks, whose
/// depth the warps of a block share out (codegen/cuda/emitters/ExpertSlices.cpp).
struct ExpertSlicesKernel {
  static constexpr llvm::StringLiteral name = "expert_slices";
  static constexpr Tuning tuning[] = {
      // 16 warps in three turns are as fast as 24 in two, or faster: gate and up of Qwen3-30B-A3B,
      // 1.283 and 1.3035 ms a step (2026-11-28).
      {"expert_pair_warps", &CudaTarget::pairWarps, 16}};

  ExpertRegion region;
  ExpertSlicesSchedule schedule;
  ExpertSliceShape shape;

  static VerdictOr<ExpertSlicesKernel> read(KernelOp kernel);
  int64_t groups() const { return schedule.threads / 32 / shape.slices(); }
  int64_t tilesOfPart() const { return llvm::divideCeil(region.columns, schedule.columns); }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether GEMMs with experts go to `expert_slices`: it follows from each alone, lest a kernel of
/// several add in another order. A region that sums what they give may not fit it yet.
bool suitsExpertSlices(const ExpertRegion& region, const CudaTarget& target);
/// Whether the warps of a block hold x of all experts that the region sums.
bool holdsSummed(const ExpertRegion& region);
ExpertSlicesSchedule chooseExpertSlices(const ExpertRegion& region, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_EXPERTSLICES_H
