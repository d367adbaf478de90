#ifndef TENON_KERNELS_CUDA_GEMM_H
#define TENON_KERNELS_CUDA_GEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"

namespace tenon::kernels {

/// How blocks of `gemm` take a GEMM: tiles of 64 rows and 64 columns of y.
struct GemmSchedule {
  int64_t tiles = 0;
  int64_t vector = 0; ///< elements that are loaded at once, which divide the depth

  static constexpr Parameter<GemmSchedule> parameters[] = {{"vector", &GemmSchedule::vector, 1, 8}};
};

/// One GEMM of many rows of x on CUDA cores, of any types (codegen/cuda/emitters/Gemm.cpp).
struct GemmKernel {
  static constexpr llvm::StringLiteral name = "gemm";
  static constexpr int64_t threads = 256, tile = 64;

  MatmulOp op;
  GemmSchedule schedule;

  static VerdictOr<GemmKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// The schedule of a GEMM, and its order, which is set.
GemmSchedule chooseGemm(MatmulOp op);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMM_H
