#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/SuperBlock.h"

using namespace mlir;

namespace tenon::codegen::cpu {

GroupScales decodeSixBitScales(VectorBuilder& b, Value block) {
  constexpr int64_t minimumAt = 2, scalesAt = 4, quarter = 4, groups = 8;
  auto bytes = [&](int64_t index) {
    return loadUnsignedBytes(b, b.advance(block, scalesAt + index * quarter), quarter);
  };
  Value scaleBytes = bytes(0), minimumBytes = bytes(1), mixedBytes = bytes(2);
  Value scales =
      b.concat(extractBits(b, scaleBytes, 0, 6),
               joinBits(b, extractBits(b, mixedBytes, 0, 4), extractBits(b, scaleBytes, 6, 2), 4));
  Value minimums =
      b.concat(extractBits(b, minimumBytes, 0, 6), joinBits(b, extractBits(b, mixedBytes, 4, 4),
                                                            extractBits(b, minimumBytes, 6, 2), 4));
  return {b.fmul(toFloats(b, scales), b.splatF16(block, groups)),
          b.fmul(toFloats(b, minimums), b.splatF16(b.advance(block, minimumAt), groups))};
}

} // namespace tenon::codegen::cpu

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q4_K`, see `ir/encoding/Q4_K.cpp`: scale · nibble − minimum, rounded once.
static Value decodeQ4K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 16, groupSize = 32;
  GroupScales group = decodeSixBitScales(b, block);
  Value offsets = b.fmul(group.minimums, b.splat(-1.0f, 8));
  return decodeByGroups(b, groupSize / 2, first, count, [&](int64_t start, int64_t part) {
    Value nibbles = PackedBits{4, groupSize}.load(b, b.advance(block, quantsAt), start, part);
    return decodeNibbles(b, nibbles, splatLane(b, group.scales, start / groupSize, part),
                         splatLane(b, offsets, start / groupSize, part));
  });
}

const WeightDecoder q4_k = {"q4_k", decodeQ4K};

} // namespace tenon::codegen::cpu::decoders
