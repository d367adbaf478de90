#ifndef TENON_CODEGEN_CPU_DECODE_Q5_H
#define TENON_CODEGEN_CPU_DECODE_Q5_H

#include "codegen/cpu/decode/Quants.h"

namespace tenon::codegen::cpu {

/// The quants of `q5_0` and `q5_1`, 0 to 31, as f32: bit 4 of quant i is bit i of the number of 32
/// bits at `pointer`, and bits 0 to 3 of all lie behind it as in `q4_0`. `count` is at most 16.
mlir::Value decodeFiveBits(VectorBuilder& builder, mlir::Value pointer, int64_t first,
                           int64_t count);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_Q5_H
