#ifndef TENON_KERNELS_CUDA_TENSORPREFILLATTENTION_H
#define TENON_KERNELS_CUDA_TENSORPREFILLATTENTION_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How blocks of `tensor_prefill_attention` take rows of a sequence.
struct TensorPrefillSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t rowTiles = 0; ///< of 16 rows, of a warp
  int64_t keysPerBlock = 0;
  int64_t blocksPerSm = 0; ///< that registers leave room for

  static constexpr Parameter<TensorPrefillSchedule> parameters[] = {
      threadsParameter(&TensorPrefillSchedule::threads),
      {"row_tiles", &TensorPrefillSchedule::rowTiles, 1, 2},
      {"keys_per_block", &TensorPrefillSchedule::keysPerBlock, 16, 64},
      {"blocks_per_sm", &TensorPrefillSchedule::blocksPerSm, 1, 32}};
};

/// Attention of many rows of each sequence on tensor cores
/// (codegen/cuda/emitters/TensorAttention.cpp).
struct TensorPrefillKernel {
  static constexpr llvm::StringLiteral name = "tensor_prefill_attention";
  static constexpr Tuning tuning[] = {
      // 32 heads of 128, causal, 128 and 64 rows a block: 512 tokens 27.8, 23.1 µs; 2,048 tokens
      // 144, 160 µs (2026-11-20).
      {"prefill_tiles_per_sm", &CudaTarget::prefillTilesPerSm, 2}};

  AttentionOp op;
  TensorPrefillSchedule schedule;

  static VerdictOr<TensorPrefillKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// The schedule for attention alone in `kernel`; nothing where shared memory holds no block.
std::optional<TensorPrefillSchedule> chooseTensorPrefill(KernelOp kernel, AttentionOp op,
                                                         const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_TENSORPREFILLATTENTION_H
