#ifndef TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H
#define TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H

#include "codegen/cpu/VectorBuilder.h"

namespace tenon::codegen::cpu {

/// Emits the decoding of one encoding to f32 in registers. A decoder is one file in this folder and
/// one line in the list in `WeightDecoder.cpp`.
struct WeightDecoder {
  /// The name of the encoding, as in `ir/encoding`.
  llvm::StringLiteral encoding;
  /// Emits code that yields `count` values as a vector of f32: elements [first, first + count) of
  /// the block at `block`. For an encoding with blocks of several elements `count` is a power of
  /// two that divides the block and `first` is a multiple of it. For a plain type, whose block is
  /// one element, the values may reach over any number of blocks.
  mlir::Value (*decode)(VectorBuilder& builder, mlir::Value block, int64_t first, int64_t count);
};

/// The decoder of tensors with that element type; null where there is none.
const WeightDecoder* findWeightDecoder(mlir::Type elementType);

/// Rows of one weight, decoded as a kernel goes along them.
class RowDecoder {
public:
  /// For rows of `type`, whose element type has a decoder.
  explicit RowDecoder(mlir::RankedTensorType type);

  /// Elements in a block; 1 for a plain type.
  int64_t blockSize() const { return encoding.blockSize; }
  int64_t rowBytes() const { return bytesPerRow; }
  /// Bytes of `elements` elements, a multiple of the block.
  int64_t bytes(int64_t elements) const { return encoding.bytesFor(elements); }
  /// Byte offset of element `element` (i64), a multiple of the block.
  mlir::Value byteOffset(VectorBuilder& builder, mlir::Value element) const;
  /// True if vectors of `count` elements can be decoded at multiples of `count`.
  bool supports(int64_t count) const;
  /// Elements [first, first + count) behind `pointer`, the start of a block; `first` is a multiple
  /// of `count`.
  mlir::Value decode(VectorBuilder& builder, mlir::Value pointer, int64_t first,
                     int64_t count) const;

private:
  const Encoding& encoding;
  const WeightDecoder& decoder;
  int64_t bytesPerRow;
};

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H
