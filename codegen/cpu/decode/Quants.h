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
/// i32 constants.
mlir::Value integers(VectorBuilder& builder, llvm::ArrayRef<int32_t> values);
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

/// Elements of a table that a register holds, and of the indices that it is looked up by.
inline constexpr int64_t tableSize = 16;
/// Whether an instruction looks up `count` values in such a table.
bool canLookUp(VectorBuilder& builder, int64_t count);
/// numberOf(i) for all numbers i of at most four `bits`, repeated up to the end of a table, so that
/// `VectorBuilder::lookUp` takes numbers with other bits above.
mlir::Value makeTable(VectorBuilder& builder, int64_t bits,
                      llvm::function_ref<float(int64_t)> numberOf);
/// scale · number + offset for numbers of at most four `bits`, the lowest of the i32 at `loose`;
/// `scale` and `offset` have as many lanes. Looked up in a table where the target can.
mlir::Value decodeBits(VectorBuilder& builder, int64_t bits, mlir::Value loose, mlir::Value scale,
                       mlir::Value offset);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_QUANTS_H
