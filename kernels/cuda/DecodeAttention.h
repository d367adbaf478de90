#ifndef TENON_KERNELS_CUDA_DECODEATTENTION_H
#define TENON_KERNELS_CUDA_DECODEATTENTION_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How blocks of `decode_attention` take rows of attention.
struct DecodeAttentionSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t headsPerTile = 0; ///< query heads of a row that share a head of the caches
  int64_t splits = 0;       ///< parts of a row's keys, at most
  int64_t keysPerBlock = 0; ///< a step of the online softmax

  static constexpr Parameter<DecodeAttentionSchedule> parameters[] = {
      threadsParameter(&DecodeAttentionSchedule::threads),
      {"heads_per_tile", &DecodeAttentionSchedule::headsPerTile},
      {"splits", &DecodeAttentionSchedule::splits, 1, 4096},
      {"keys_per_block", &DecodeAttentionSchedule::keysPerBlock}};
};

/// Attention of single rows on CUDA cores, of any element types
/// (codegen/cuda/emitters/DecodeAttention.cpp).
struct DecodeAttentionKernel {
  static constexpr llvm::StringLiteral name = "decode_attention";

  AttentionOp op;
  DecodeAttentionSchedule schedule;

  static VerdictOr<DecodeAttentionKernel> read(KernelOp kernel) {
    return readSole<DecodeAttentionKernel>(kernel);
  }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

DecodeAttentionSchedule chooseDecodeAttention(AttentionOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_DECODEATTENTION_H
