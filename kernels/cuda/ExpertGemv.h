#ifndef TENON_KERNELS_CUDA_EXPERTGEMV_H
#define TENON_KERNELS_CUDA_EXPERTGEMV_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/BulkRows.h"
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
  /// Stages of a warp's ring in shared memory, through which it brings rows. 0: warps load rows
  /// into registers.
  int64_t stages = 0;

  static constexpr int64_t mostPairs = 16; ///< at once
  static constexpr Parameter<ExpertGemvSchedule> parameters[] = {
      threadsParameter(&ExpertGemvSchedule::threads),
      {"vector", &ExpertGemvSchedule::vector, 1, 8},
      {"columns_per_warp", &ExpertGemvSchedule::columnsPerWarp, 1, 128},
      {"pairs_at_once", &ExpertGemvSchedule::pairsAtOnce, 1, mostPairs, /*absent=*/0},
      {"stages", &ExpertGemvSchedule::stages, 1, 128, /*absent=*/0}};
};

/// What a stage of a warp's ring holds: a row of a matrix; for tensor cores, which multiply rows in
/// blocks, of the matrix of each GEMM a piece of consecutive rows.
///
/// Example: gate and up of 2,048 elements in q4_k: a row of each, pieces of 1,152 bytes; down of
/// 768 elements in q6_k, rows of 630 bytes: eight rows in a piece of 5,120 bytes; gate and up of
/// 2,880 elements in mxfp4, rows of 1,530 bytes: a row of each, from the multiple of 16 bytes
/// before it to the one after it, pieces of 1,664 bytes.
struct ExpertStage {
  bool onTensorCores;
  BulkRows matrix;        ///< an expert's; of quants alone may a piece begin before its rows
  int64_t rows = 1;       ///< of a piece: as many as a copy's multiple of 16 bytes asks for
  int64_t pieceBytes = 0; ///< from one piece to the next
  int64_t pieces = 1;

  explicit ExpertStage(const ExpertRegion& region);

  /// Those in which a warp brings `columns` columns of `gemms` GEMMs.
  int64_t turns(int64_t columns, int64_t gemms) const;
  /// Rows of which a warp takes multiples.
  int64_t rowsTogether() const { return matrix.skips || matrix.areAligned() ? 1 : rows; }
  int64_t bytes() const { return pieces * pieceBytes; }
  int64_t ringBytes(int64_t stages) const; ///< of a warp, with its barriers
};

/// GEMMs of rows with the experts that they choose, whose weights warps load into registers, or
/// bring through rings, those in blocks to tensor cores (codegen/cuda/emitters/ExpertGemv.cpp).
struct ExpertGemvKernel {
  static constexpr llvm::StringLiteral name = "expert_gemv";

  /// Pairs that a tile of an expert searches for its own at once.
  static constexpr int64_t mostListed = 1024;
  /// Elements of x that a warp with a ring holds: 16 bits each for tensor cores, else 32.
  static constexpr int64_t mostHeldQuants = 4096, mostHeld = 2048;
  /// Warps of a block with rings, and experts of a row that they sum.
  static constexpr int64_t mostWarps = 16;

  ExpertRegion region;
  ExpertGemvSchedule schedule;

  static VerdictOr<ExpertGemvKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
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
