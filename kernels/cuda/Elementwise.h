#ifndef TENON_KERNELS_CUDA_ELEMENTWISE_H
#define TENON_KERNELS_CUDA_ELEMENTWISE_H

#include "ir/KernelLimits.h"
#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"

namespace tenon::kernels {

/// Threads that each take `vector` elements of a row.
struct ElementwiseSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t rowElements = 0; ///< the innermost extent, or all elements where nothing broadcasts
  int64_t vector = 0;

  static constexpr Parameter<ElementwiseSchedule> parameters[] = {
      {"row_elements", &ElementwiseSchedule::rowElements, 1, mostCounted},
      {"vector", &ElementwiseSchedule::vector},
      threadsParameter(&ElementwiseSchedule::threads)};
};

/// A chain of operations on elements (codegen/cuda/emitters/Elementwise.cpp).
struct ElementwiseKernel {
  static constexpr llvm::StringLiteral name = "elementwise";
  static constexpr Tuning tuning[] = {
      // Small tensors spread over many multiprocessors in blocks of 64 threads; four rounds of 256
      // (2026-11-20).
      {"element_vectors_per_sm", &CudaTarget::elementVectorsPerSm, 1024}};

  KernelOp kernel;
  ElementwiseSchedule schedule;

  static VerdictOr<ElementwiseKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_ELEMENTWISE_H
