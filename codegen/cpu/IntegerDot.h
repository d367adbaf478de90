#ifndef TENON_CODEGEN_CPU_INTEGERDOT_H
#define TENON_CODEGEN_CPU_INTEGERDOT_H

#include "codegen/cpu/VectorBuilder.h"

/// Exact sums of products of small integers, for targets of 256 and 512 bits.
namespace tenon::codegen::cpu {

/// A native vector of i32.
mlir::VectorType i32s(VectorBuilder& builder);
/// `value` in every lane of a native vector of i32.
mlir::Value integerSplat(VectorBuilder& builder, int64_t value);
/// The i32 at `pointer` in every lane of a native vector.
mlir::Value splatDword(VectorBuilder& builder, mlir::Value pointer);

/// `sums` + the products of four bytes in each lane: `quants` holds unsigned bytes of at most
/// `largest`, `bytes` signed ones of −127 to 127; native vectors of i32. One `vpdpbusd` where the
/// target has it, else `vpmaddubsw` and `vpmaddwd`, twice for quants above 128, whose products'
/// sums do not fit into 16 bits.
mlir::Value dotBytes(VectorBuilder& builder, mlir::Value sums, mlir::Value quants,
                     mlir::Value bytes, int64_t largest);

/// `sums` + the products of two signed 16-bit integers in each lane, whose sum fits into 32 bits.
mlir::Value dotShorts(VectorBuilder& builder, mlir::Value sums, mlir::Value a, mlir::Value b);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_INTEGERDOT_H
