#ifndef TENON_CODEGEN_CPU_DECODE_SUPERBLOCK_H
#define TENON_CODEGEN_CPU_DECODE_SUPERBLOCK_H

#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/WeightDecoder.h"

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

/// Of formats with 16 groups of 16 elements, as f32: the groups' scales, and what is added to a
/// scale times a quant.
struct GroupFactors {
  mlir::Value scales;
  mlir::Value offsets;

  static constexpr int64_t groups = 16, groupSize = 16;
};

/// `BlockUnits` of such a format, halves of a block, whose factors `decodeFactors` gives for the
/// block at `block`. `decodePart` decodes elements [first, first + lanes) of half `unit` of a
/// block, where `scale` and `offset` are those of the group that they lie in.
template <GroupFactors (*decodeFactors)(VectorBuilder& builder, mlir::Value block),
          mlir::Value (*decodePart)(VectorBuilder& builder, mlir::Value block, mlir::Value unit,
                                    int64_t first, int64_t lanes, mlir::Value scale,
                                    mlir::Value offset)>
struct HalfBlocks {
  static constexpr int64_t elements = 128, floatBytes = 4, groups = GroupFactors::groups;

  static void prepare(VectorBuilder& b, mlir::Value block, mlir::Value prepared) {
    auto [scales, offsets] = decodeFactors(b, block);
    b.store(scales, prepared);
    b.store(offsets, b.advance(prepared, groups * floatBytes));
  }

  static llvm::SmallVector<mlir::Value> decode(VectorBuilder& b, mlir::Value block,
                                               mlir::Value prepared, mlir::Value unit,
                                               int64_t lanes) {
    mlir::Value firstGroup = b.mul(unit, elements / GroupFactors::groupSize);
    llvm::SmallVector<mlir::Value> values;
    for (int64_t first = 0; first < elements; first += lanes) {
      int64_t group = first / GroupFactors::groupSize;
      values.push_back(decodePart(b, block, unit, first, lanes,
                                  splatPrepared(b, prepared, firstGroup, group, lanes),
                                  splatPrepared(b, prepared, firstGroup, groups + group, lanes)));
    }
    return values;
  }

  static constexpr BlockUnits units = {elements, 2 * groups, prepare, decode};
};

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
