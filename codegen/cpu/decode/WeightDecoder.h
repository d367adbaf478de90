#ifndef TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H
#define TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H

#include <span>

#include "codegen/cpu/VectorBuilder.h"
#include "ir/encoding/BlockFormat.h"

namespace tenon::codegen::cpu {

/// Decodes a large block in units of like code, so that a loop over units decodes several rows at
/// once without running out of registers: first what all units share, then unit by unit.
struct BlockUnits {
  /// Elements of a unit, which divides the block; a multiple of 16.
  int64_t elements;
  /// Floats that `prepare` keeps for one block.
  int64_t preparedFloats;
  /// Decodes the scales of the block at `block` to memory at `prepared`.
  void (*prepare)(VectorBuilder& builder, mlir::Value block, mlir::Value prepared);
  /// The elements of unit number `unit` (i64) of that block, ascending, in vectors of `lanes`, at
  /// most 16: the same bits as `WeightDecoder::decode` gives.
  llvm::SmallVector<mlir::Value> (*decode)(VectorBuilder& builder, mlir::Value block,
                                           mlir::Value prepared, mlir::Value unit, int64_t lanes);
};

/// Emits the decoding of one encoding to f32 in registers. A decoder is one file in this folder
/// that defines `decoders::<name>`; block formats of planes need none (`Planes.h`).
struct WeightDecoder {
  /// The name of the encoding, as in `ir/encoding`.
  llvm::StringLiteral encoding;
  /// Emits code that yields `count` values as a vector of f32: elements [first, first + count) of
  /// the block at `block`. For an encoding with blocks of several elements `count` is a power of
  /// two that divides the block and `first` is a multiple of it. For a plain type, whose block is
  /// one element, the values may reach over any number of blocks.
  mlir::Value (*decode)(VectorBuilder& builder, mlir::Value block, int64_t first, int64_t count);
  /// Null where a block is small, or rarely used enough, to be decoded as a whole.
  const BlockUnits* units = nullptr;
};

/// All decoders, by their files' names.
std::span<const WeightDecoder* const> allWeightDecoders();

/// Whether tensors of that encoding can be decoded: all that weights have can be.
bool canDecode(const Encoding& encoding);

/// Rows of one weight, decoded as a kernel goes along them.
class RowDecoder {
public:
  /// For rows of `type`, of an encoding that weights have.
  explicit RowDecoder(mlir::RankedTensorType type);

  /// Elements in a block; 1 for a plain type.
  int64_t blockSize() const { return encoding.blockSize; }
  int64_t rowBytes() const { return bytesPerRow; }
  /// How to decode blocks in units; null where the encoding has none.
  const BlockUnits* units() const;
  /// Bytes of `elements` elements, a multiple of the block.
  int64_t bytes(int64_t elements) const { return encoding.bytesFor(elements); }
  /// Byte offset of element `element` (i64), a multiple of the block.
  mlir::Value byteOffset(VectorBuilder& builder, mlir::Value element) const;
  /// True if vectors of `count` elements can be decoded at multiples of `count`.
  bool supports(int64_t count) const;
  /// Elements [first, first + count) after `pointer`, the start of a block; `first` is a multiple
  /// of `count`.
  mlir::Value decode(VectorBuilder& builder, mlir::Value pointer, int64_t first,
                     int64_t count) const;

private:
  const Encoding& encoding;
  /// Null where `format` says all.
  const WeightDecoder* decoder;
  const BlockFormat* format;
  int64_t bytesPerRow;
};

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_WEIGHTDECODER_H
