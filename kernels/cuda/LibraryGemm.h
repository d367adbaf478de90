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

/// One GEMM that a library computes (codegen/cuda/LibraryCall.h).
struct LibraryGemmKernel {
  static constexpr llvm::StringLiteral name = "cublaslt";
  static constexpr Tuning tuning[] = {
      // Beside an earlier narrow_gemm at 16 rows: 6144 x 4096 16.0 and 17.0 µs (2026-11-21).
      {"library_rows", &CudaTarget::libraryRows, 16}};

  MatmulOp op;
  LibraryGemmSchedule schedule;

  static VerdictOr<LibraryGemmKernel> read(KernelOp kernel);
  std::optional<BlockResources> resources() const { return std::nullopt; }
  PriceTerms priceTerms() const;
};

/// Whether the kernel is a GEMM that cuBLASLt computes: factors of one plain type, the result in
/// that type or f32, and rows enough that a library's tiles are used.
bool suitsLibrary(KernelOp kernel, const CudaTarget& target);
LibraryGemmSchedule chooseLibraryGemm(MatmulOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_LIBRARYGEMM_H
