#ifndef TENON_CODEGEN_CPU_DECODE_QUANTS_H
#define TENON_CODEGEN_CPU_DECODE_QUANTS_H

#include "codegen/cpu/VectorBuilder.h"

/// What the decoders of block formats are made of.
namespace tenon::codegen::cpu {

/// `count` bytes at `pointer`, widened to i32.
mlir::Value loadUnsignedBytes(VectorBuilder& builder, mlir::Value pointer, int64_t count);
mlir::Value loadSignedBytes(VectorBuilder& builder, mlir::Value pointer, int64_t count);
/// (integers >> shift) & (2^bits − 1).
mlir::Value extractBits(VectorBuilder& builder, mlir::Value integers, int64_t shift, int64_t bits);
/// low | high << shift.
mlir::Value joinBits(VectorBuilder& builder, mlir::Value low, mlir::Value high, int64_t shift);
/// Integers as f32.
mlir::Value toFloats(VectorBuilder& builder, mlir::Value integers);
/// i32 constants, f32 constants.
mlir::Value integers(VectorBuilder& builder, llvm::ArrayRef<int32_t> values);
mlir::Value floats(VectorBuilder& builder, llvm::ArrayRef<float> values);
/// Lane `lane` of `vector` in `count` lanes.
mlir::Value splatLane(VectorBuilder& builder, mlir::Value vector, int64_t lane, int64_t count);

/// Numbers of `bits` bits in the arrangement of `ir/encoding/internal/BitPlane.h`: runs of `stride`
/// numbers lie beside each other in the bits of the same `stride` bytes.
struct PackedBits {
  int64_t bits, stride;

  /// Numbers [first, first + count) after `pointer`, as i32; they lie within one run, or are whole
  /// runs in the same bytes.
  mlir::Value load(VectorBuilder& builder, mlir::Value pointer, int64_t first, int64_t count) const;
  /// The same with other bits above those of each number.
  mlir::Value loadLoose(VectorBuilder& builder, mlir::Value pointer, int64_t first,
                        int64_t count) const;
};

/// scale · number + offset for numbers of at most four `bits`, the lowest of the i32 at `loose`;
/// `scale` and `offset` have as many lanes. Looked up in a table where the target can.
mlir::Value decodeBits(VectorBuilder& builder, int64_t bits, mlir::Value loose, mlir::Value scale,
                       mlir::Value offset);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_QUANTS_H
