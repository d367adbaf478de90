#ifndef TENON_RUNTIME_CUDA_INTERNAL_CUBLASLT_H
#define TENON_RUNTIME_CUDA_INTERNAL_CUBLASLT_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/internal/AlgorithmStore.h"
#include "runtime/cuda/internal/Device.h"
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

  /// Where the implementations that were chosen are kept.
  void setStore(AlgorithmStore store) { algorithms = std::move(store); }

  CublasLt(CublasLt&& other) noexcept;
  CublasLt& operator=(CublasLt&& other) noexcept;
  ~CublasLt();

private:
  friend class MatmulPlan;
  struct Impl;
  explicit CublasLt(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
  mutable AlgorithmStore algorithms{""}; ///< a plan that chooses keeps its choice
};

/// The device addresses of a matmul's operands.
struct MatmulOperands {
  CUdeviceptr x = 0;        ///< [m, k]
  CUdeviceptr weight = 0;   ///< [n, k]
  CUdeviceptr y = 0;        ///< [m, n]
  CUdeviceptr residual = 0; ///< [m, n], where the matmul has one
  CUdeviceptr bias = 0;     ///< [n], where the matmul has one; that of the plan
};

/// What choosing an implementation takes: the operands are written to, and read as they are.
struct MatmulTrial {
  const Device& device;
  CUdeviceptr workspace = 0; ///< of the bytes that `LibraryMatmul` allows
  CUstream stream = nullptr;
};

/// A matmul with one implementation of cuBLASLt for its shape, its types, its epilogue and the
/// alignment of its operands: the one kept in the library's store, else the fastest on this device of the eight that
/// cuBLASLt's heuristics put first, which is then kept. So every later load computes the same bits.
/// Split-K sums in f32 in a fixed order, never by atomics.
class MatmulPlan {
public:
  /// `library` must outlive the plan. Fails where cuBLASLt has no implementation.
  static absl::StatusOr<MatmulPlan> create(const CublasLt& library, const LibraryMatmul& matmul,
                                           const MatmulOperands& operands,
                                           const MatmulTrial& trial);
  /// A plan for each implementation that cuBLASLt's heuristics name, at most `most`, those that they
  /// put first first.
  static absl::StatusOr<std::vector<MatmulPlan>> candidates(const CublasLt& library,
                                                            const LibraryMatmul& matmul,
                                                            const MatmulOperands& operands,
                                                            size_t most);

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
