#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// scale · (scales[g] − 32) of the 16 groups.
static Value decodeScales(VectorBuilder& b, Value block) {
  constexpr int64_t lowAt = 96, highAt = 104, scaleAt = 108, groups = 16;
  Value lowBytes = loadUnsignedBytes(b, b.advance(block, lowAt), 8);
  Value low = b.concat(extractBits(b, lowBytes, 0, 4), extractBits(b, lowBytes, 4, 4));
  Value highBytes = loadUnsignedBytes(b, b.advance(block, highAt), 4);
  auto high = [&](int64_t quarter) { return extractBits(b, highBytes, 2 * quarter, 2); };
  Value bits =
      joinBits(b, low, b.concat(b.concat(high(0), high(1)), b.concat(high(2), high(3))), 4);
  Value centred = b.fsub(toFloats(b, bits), b.splat(32.0f, groups));
  return b.fmul(centred, b.splatLastF16(b.advance(block, scaleAt), groups));
}

/// ggml's `block_q3_K`, see `ir/encoding/Q3_K.cpp`: scale · (scales[g] − 32) · (quant − 4), exact.
static Value decodeQ3K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t lowAt = 32, groupSize = 16, groups = 16;
  Value scales = decodeScales(b, block);
  Value offsets = b.fmul(scales, b.splat(-4.0f, groups));
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value low = PackedBits{2, 32}.load(b, b.advance(block, lowAt), start, part);
    Value high = PackedBits{1, 32}.load(b, block, start, part);
    return b.fma(toFloats(b, joinBits(b, low, high, 2)),
                 splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

extern constexpr WeightDecoder q3_k = {"q3_k", decodeQ3K};

} // namespace tenon::codegen::cpu::decoders
