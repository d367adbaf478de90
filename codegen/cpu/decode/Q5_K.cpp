#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/SuperBlock.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q5_K`, see `ir/encoding/Q5_K.cpp`: scale · quant − minimum, rounded once.
static Value decodeQ5K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t highAt = 16, lowAt = 48, groupSize = 32;
  GroupScales group = decodeSixBitScales(b, block);
  Value offsets = b.fmul(group.minimums, b.splat(-1.0f, 8));
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value low = PackedBits{4, groupSize}.load(b, b.advance(block, lowAt), start, part);
    Value high = PackedBits{1, groupSize}.load(b, b.advance(block, highAt), start, part);
    return b.fma(toFloats(b, joinBits(b, low, high, 4)),
                 splatLane(b, group.scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

const WeightDecoder q5_k = {"q5_k", decodeQ5K};

} // namespace tenon::codegen::cpu::decoders
