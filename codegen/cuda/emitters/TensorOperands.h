#ifndef TENON_CODEGEN_CUDA_EMITTERS_TENSOROPERANDS_H
#define TENON_CODEGEN_CUDA_EMITTERS_TENSOROPERANDS_H

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda {

/// Emits an error where attention's queries, keys, values and result are not what tensor cores
/// take: one 16-bit type, or where `mayBeQuants` caches of 8-bit quants, heads of at most 256
/// elements in multiples of `sizeMultiple`, a positive scale, and no order, which the emitters'
/// parameters fix.
mlir::LogicalResult verifyTensorOperands(AttentionOp op, int64_t sizeMultiple,
                                         bool mayBeQuants = false);

/// `ScoreScale{…}` of the operation.
std::string scoreScale(AttentionOp op);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_TENSOROPERANDS_H
