#ifndef TENON_KERNELS_CUDA_GEMV_H
#define TENON_KERNELS_CUDA_GEMV_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How warps of `gemv` take the rows of W.
struct GemvSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t vector = 0;         ///< elements that a thread loads at once
  int64_t columnsPerWarp = 0; ///< rows of W, or chunks of them, of a warp
  int64_t split = 0;          ///< warps that share rows of W, a chunk of the order each

  static constexpr Parameter<GemvSchedule> parameters[] = {
      threadsParameter(&GemvSchedule::threads),
      {"vector", &GemvSchedule::vector, 1, 8},
      {"columns_per_warp", &GemvSchedule::columnsPerWarp, 1, 128},
      {"split", &GemvSchedule::split, 1, 32}};
};

/// One GEMM of a few rows of x, whose weights warps load into registers
/// (codegen/cuda/emitters/Gemv.cpp).
struct GemvKernel {
  static constexpr llvm::StringLiteral name = "gemv";
  static constexpr Tuning tuning[] = {
      // K is split for 4,096 rows of W and fewer (2026-11-20).
      {"gemv_warps", &CudaTarget::gemvWarps, 16384}};

  MatmulOp op;
  GemvSchedule schedule;

  static VerdictOr<GemvKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// The schedule of a GEMM, and its order, which is set.
GemvSchedule chooseGemv(MatmulOp op, const CudaTarget& target);

/// Registers of a thread in a loop over the depth with `sums` accumulators.
int64_t registersOfSums(int64_t sums);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMV_H
