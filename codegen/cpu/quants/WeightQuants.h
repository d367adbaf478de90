#ifndef TENON_CODEGEN_CPU_QUANTS_WEIGHTQUANTS_H
#define TENON_CODEGEN_CPU_QUANTS_WEIGHTQUANTS_H

#include <span>

#include "codegen/cpu/VectorBuilder.h"

namespace tenon::codegen::cpu {

/// How the blocks of one encoding are unpacked to be multiplied as integers: each quant an unsigned
/// byte q that stands for q − zero point, in ascending order. One file in this folder that defines
/// `quants::<name>`.
///
/// A block of 32 has one f16 scale, in its first two bytes. A block of 256 consists of groups with
/// an integer scale each; `unpackScales` writes, as numbers of 32 bits,
///
/// 1. the scales of the groups,
/// 2. eight pairs of 16 bits, a number for each sixteen quants, to multiply the sums of the quants
///    of x with: minimums, or the scales once more where the zero point is not 0,
/// 3. four numbers, of which the first is the block's f16 scale and, with minimums, the second the
///    f16 minimum, in the lower 16 bits.
struct WeightQuants {
  /// The name of the encoding, as in `ir/encoding`.
  llvm::StringLiteral encoding;
  int64_t largest;   ///< q is at most this
  int64_t zeroPoint; ///< a power of two or 0
  /// Elements that share an integer scale; 0 in blocks of 32.
  int64_t groupSize = 0;
  bool hasMinimums = false;
  /// Writes the quants of the block at `block` to `target`.
  void (*unpackQuants)(VectorBuilder& builder, mlir::Value block, mlir::Value target);
  /// Null for blocks of 32.
  void (*unpackScales)(VectorBuilder& builder, mlir::Value block, mlir::Value target) = nullptr;
};

/// All of them, by their files' names.
std::span<const WeightQuants* const> allWeightQuants();

/// How tensors with that element type are unpacked; null where there is no way.
const WeightQuants* findWeightQuants(mlir::Type elementType);

/// `count` bytes at `pointer`.
mlir::Value loadBytes(VectorBuilder& builder, mlir::Value pointer, int64_t count);
/// Bits [shift, shift + bits) of each byte.
mlir::Value bitsOfBytes(VectorBuilder& builder, mlir::Value bytes, int64_t shift, int64_t bits);
/// low | high << shift, byte by byte.
mlir::Value joinBytes(VectorBuilder& builder, mlir::Value low, mlir::Value high, int64_t shift);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_QUANTS_WEIGHTQUANTS_H
