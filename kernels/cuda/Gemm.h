#ifndef TENON_KERNELS_CUDA_GEMM_H
#define TENON_KERNELS_CUDA_GEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How blocks of `gemm` take a GEMM.
struct GemmSchedule {
  static constexpr int64_t mostTile = 64;

  int64_t tiles = 0;
  int64_t vector = 0;      ///< elements that are loaded at once, which divide the depth
  int64_t tile = mostTile; ///< rows and columns of y that a block takes: 16, 32 or 64

  static constexpr Parameter<GemmSchedule> parameters[] = {
      {"vector", &GemmSchedule::vector, 1, 8},
      {"tile", &GemmSchedule::tile, 16, mostTile, /*absent=*/mostTile}};
};

/// One GEMM of many rows of x on CUDA cores, of any types (codegen/cuda/emitters/Gemm.cpp).
struct GemmKernel {
  static constexpr llvm::StringLiteral name = "gemm";
  static constexpr int64_t threads = 256;

  MatmulOp op;
  GemmSchedule schedule;

  static VerdictOr<GemmKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// The schedule of a GEMM, and its order, which is set. Tiles are smaller where multiprocessors
/// would have none, which changes no sum.
GemmSchedule chooseGemm(MatmulOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMM_H
