#ifndef TENON_KERNELS_CUDA_EXPERTGEMV_H
#define TENON_KERNELS_CUDA_EXPERTGEMV_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/ExpertRegion.h"

namespace tenon::kernels {

/// How warps of `expert_gemv` take the rows of the experts' matrices.
struct ExpertGemvSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t vector = 0;         ///< elements that a thread loads at once
  int64_t columnsPerWarp = 0; ///< rows of a matrix that a warp takes
  /// Pairs of a row and an expert that a tile of an expert multiplies at once. 0: a tile is of one
  /// pair or, beside a weighted sum, of a row, whose experts its warps share.
  int64_t pairsAtOnce = 0;

  static constexpr Parameter<ExpertGemvSchedule> parameters[] = {
      threadsParameter(&ExpertGemvSchedule::threads),
      {"vector", &ExpertGemvSchedule::vector, 1, 8},
      {"columns_per_warp", &ExpertGemvSchedule::columnsPerWarp, 1, 16},
      {"pairs_at_once", &ExpertGemvSchedule::pairsAtOnce, 1, 16, /*absent=*/0}};
};

/// Products of rows with the experts that they choose, whose weights warps load into registers
/// (codegen/cuda/emitters/ExpertGemv.cpp).
struct ExpertGemvKernel {
  static constexpr llvm::StringLiteral name = "expert_gemv";

  /// Pairs that a tile of an expert searches for its own at once.
  static constexpr int64_t mostListed = 1024;

  ExpertRegion region;
  ExpertGemvSchedule schedule;

  static VerdictOr<ExpertGemvKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// One weighted sum, a vector of elements a thread (codegen/cuda/emitters/WeightedSum.cpp).
struct WeightedSumSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t vector = 0; ///< of at most 16 bytes

  static constexpr Parameter<WeightedSumSchedule> parameters[] = {
      threadsParameter(&WeightedSumSchedule::threads),
      {"vector", &WeightedSumSchedule::vector, 1, 8}};
};

struct WeightedSumKernel {
  static constexpr llvm::StringLiteral name = "weighted_sum";

  WeightedSumOp op;
  WeightedSumSchedule schedule;

  static VerdictOr<WeightedSumKernel> read(KernelOp kernel) {
    return readSole<WeightedSumKernel>(kernel);
  }
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_EXPERTGEMV_H
