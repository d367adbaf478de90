#ifndef TENON_KERNELS_CUDA_LIBRARYGEMM_H
#define TENON_KERNELS_CUDA_LIBRARYGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How cuBLASLt computes a GEMM; its own algorithm is chosen when the program is loaded.
struct LibraryGemmSchedule {
  int64_t tiles = 1;
  int64_t workspaceBytes = 0;
  int64_t tf32 = 0; ///< 1: factors of f32 are rounded to TF32

  static constexpr Parameter<LibraryGemmSchedule> parameters[] = {
      {"workspace_bytes", &LibraryGemmSchedule::workspaceBytes, 1, int64_t(1) << 40},
      flagParameter("tf32", &LibraryGemmSchedule::tf32)};
};

/// One GEMM, y = x·Wᵀ, or with an epilogue that a library has, y = gelu_tanh(x·Wᵀ + residual +
/// bias), of which a graph may lack any part. All of an epilogue is f32, from the product to y, so
/// that a library has nothing to round (docs/decisions/0017-epilogues-of-libraries.md). The
/// region's arguments are x, W, residual and bias, in this order.
///
/// ```mlir
/// %p = tenon.matmul %x, %w : (tensor<64x96xf16>, tensor<32x96xf16>) -> tensor<64x32xf32>
/// %s = tenon.add %p, %bias : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
/// %y = tenon.gelu_tanh %s : (tensor<64x32xf32>) -> tensor<64x32xf32>
/// ```
struct LibraryGemmRegion {
  MatmulOp op;
  bool hasResidual = false; ///< [..., N], as y
  bool hasBias = false;     ///< [N]
  bool hasGelu = false;

  bool hasEpilogue() const { return hasResidual || hasBias || hasGelu; }
};

/// Reads the region of `kernel`, or says why no library computes it.
VerdictOr<LibraryGemmRegion> readLibraryGemm(KernelOp kernel);

/// One GEMM, alone or with a library's epilogue, that the library computes
/// (codegen/cuda/LibraryCall.h).
struct LibraryGemmKernel {
  static constexpr llvm::StringLiteral name = "cublaslt";
  static constexpr Tuning tuning[] = {
      // Beside an earlier narrow_gemm at 16 rows: 6144 x 4096 16.0 and 17.0 µs (2026-11-21).
      {"library_rows", &CudaTarget::libraryRows, 16}};

  LibraryGemmRegion region;
  LibraryGemmSchedule schedule;

  static VerdictOr<LibraryGemmKernel> read(KernelOp kernel);
  std::optional<BlockResources> resources() const { return std::nullopt; }
  PriceTerms priceTerms() const;
};

/// Whether cuBLASLt may compute a GEMM of so many rows on the target: enough that a library's tiles
/// are used.
bool allowsLibrary(MatmulOp op, const CudaTarget& target);
LibraryGemmSchedule chooseLibraryGemm(MatmulOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_LIBRARYGEMM_H
