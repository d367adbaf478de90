#ifndef TENON_CODEGEN_CPU_DECODE_PLANES_H
#define TENON_CODEGEN_CPU_DECODE_PLANES_H

#include "codegen/cpu/VectorBuilder.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "ir/encoding/BlockFormat.h"

namespace tenon::codegen::cpu {

/// `WeightDecoder::decode` of a format whose quants lie in planes, from its description alone. The
/// sum that the multiply-add rounds once is exact without a minimum.
mlir::Value decodePlanes(VectorBuilder& builder, const BlockFormat& format, mlir::Value block,
                         int64_t first, int64_t count);

/// How to decode eight groups of 128 integers of 4 bits that lie together, in units of a group, and
/// groups of 16 E2M1 numbers, two a unit; null for other formats.
const BlockUnits* findUnitsOfPlanes(const BlockFormat& format);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_DECODE_PLANES_H
