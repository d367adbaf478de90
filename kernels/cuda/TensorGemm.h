#ifndef TENON_KERNELS_CUDA_TENSORGEMM_H
#define TENON_KERNELS_CUDA_TENSORGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How blocks of `tensor_gemm` take a GEMM.
struct TensorGemmSchedule {
  int64_t tiles = 0;
  int64_t tileRows = 0; ///< of y, 64 or 128; a tile has 128 columns

  static constexpr Parameter<TensorGemmSchedule> parameters[] = {
      {"tile_rows", &TensorGemmSchedule::tileRows, 64, 128}};
};

/// One GEMM of many rows of x on tensor cores (codegen/cuda/emitters/TensorGemm.cpp).
struct TensorGemmKernel {
  static constexpr llvm::StringLiteral name = "tensor_gemm";
  static constexpr int64_t threads = 256, tileColumns = 128;

  MatmulOp op;
  TensorGemmSchedule schedule;

  static VerdictOr<TensorGemmKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

TensorGemmSchedule chooseTensorGemm(MatmulOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_TENSORGEMM_H
