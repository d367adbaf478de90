#ifndef TENON_RUNTIME_CUDA_INTERNAL_CUBLASLT_H
#define TENON_RUNTIME_CUDA_INTERNAL_CUBLASLT_H

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/program/Program.h"
#include <cuda.h>

namespace tenon::runtime::internal {

/// cuBLASLt, opened at run time, with a handle in the context that was current at creation.
class CublasLt {
public:
  /// Where cuBLASLt is looked for: the system's search path, then the toolkit's usual folder.
  static std::span<const std::string> defaultPaths();

  /// Opens the first of `paths` that can be. NotFound if none can, FailedPrecondition if it is not
  /// cuBLASLt or finds no device to work on.
  static absl::StatusOr<CublasLt> open(std::span<const std::string> paths);

  CublasLt(CublasLt&& other) noexcept;
  CublasLt& operator=(CublasLt&& other) noexcept;
  ~CublasLt();

private:
  friend class MatmulPlan;
  struct Impl;
  explicit CublasLt(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

/// The device addresses of a matmul's operands.
struct MatmulOperands {
  CUdeviceptr x = 0;      ///< [m, k]
  CUdeviceptr weight = 0; ///< [n, k]
  CUdeviceptr y = 0;      ///< [m, n]
};

/// A matmul with the implementation that cuBLASLt's heuristics put first for its shape, its types
/// and the alignment of its operands; it stays the same for the life of the plan. Split-K sums in
/// f32 in a fixed order, never by atomics.
class MatmulPlan {
public:
  /// `library` must outlive the plan. Fails where cuBLASLt has no implementation.
  static absl::StatusOr<MatmulPlan> create(const CublasLt& library, const LibraryMatmul& matmul,
                                           const MatmulOperands& operands);

  MatmulPlan(MatmulPlan&& other) noexcept;
  MatmulPlan& operator=(MatmulPlan&& other) noexcept;
  ~MatmulPlan();

  /// Starts the matmul; `workspace` has the bytes that `LibraryMatmul` allows.
  absl::Status enqueue(const MatmulOperands& operands, CUdeviceptr workspace,
                       CUstream stream) const;

private:
  struct Impl;
  explicit MatmulPlan(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_CUBLASLT_H
