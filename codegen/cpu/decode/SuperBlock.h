#ifndef TENON_CODEGEN_CPU_DECODE_SUPERBLOCK_H
#define TENON_CODEGEN_CPU_DECODE_SUPERBLOCK_H

#include "codegen/cpu/decode/Quants.h"

/// What the decoders of ggml's K formats share: blocks of 256 values in groups that have scales of
/// their own. The scales of all groups are decoded at once; parts of one block that LLVM sees
/// together share that.
namespace tenon::codegen::cpu {

/// Scales or minimums of the groups of a block, as f32.
struct GroupScales {
  mlir::Value scales;
  mlir::Value minimums;
};

/// The eight scales, then the eight minimums, of 6 bits of the `q4_k` or `q5_k` block at `block`,
/// as i32.
mlir::Value unpackSixBitScales(VectorBuilder& builder, mlir::Value block);

/// The eight scales, then the eight minimums, of `decodeSixBitScales`, stored as floats at
/// `prepared`.
void prepareSixBitScales(VectorBuilder& builder, mlir::Value block, mlir::Value prepared);
inline constexpr int64_t preparedSixBitFloats = 16;

/// Float `index` (i64) + `offset` of those at `prepared`, in `lanes` lanes.
mlir::Value splatPrepared(VectorBuilder& builder, mlir::Value prepared, mlir::Value index,
                          int64_t offset, int64_t lanes);

/// The eight scales and minimums of 6 bits of `q4_k` and `q5_k`, times the f16 scale and minimum at
/// bytes 0 and 2; see `ir/encoding/internal/SixBitScales.h`.
GroupScales decodeSixBitScales(VectorBuilder& builder, mlir::Value block);

/// Decodes elements [first, first + count) in parts that do not cross a group of `groupSize`.
template <typename DecodePart>
mlir::Value decodeByGroups(VectorBuilder& b, int64_t groupSize, int64_t first, int64_t count,
                           DecodePart decodePart) {
  if (count <= groupSize)
    return decodePart(first, count);
  int64_t half = count / 2;
  return b.concat(decodeByGroups(b, groupSize, first, half, decodePart),
                  decodeByGroups(b, groupSize, first + half, half, decodePart));
}

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_SUPERBLOCK_H
