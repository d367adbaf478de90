#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/SuperBlock.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q6_K`, see `ir/encoding/Q6_K.cpp`: scale · scales[g] · (quant − 32), rounded once:
/// the first product is exact.
static Value decodeQ6K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t highAt = 128, scalesAt = 192, scaleAt = 208, groupSize = 16, groups = 16;
  Value scale = b.splatLastF16(b.advance(block, scaleAt), groups);
  Value scales = b.fmul(toFloats(b, loadSignedBytes(b, b.advance(block, scalesAt), groups)), scale);
  Value offsets = b.fmul(scales, b.splat(-32.0f, groups));
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value low = PackedBits{4, 64}.load(b, block, start, part);
    Value high = PackedBits{2, 32}.load(b, b.advance(block, highAt), start, part);
    return b.fma(toFloats(b, joinBits(b, low, high, 4)),
                 splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

const WeightDecoder q6_k = {"q6_k", decodeQ6K};

} // namespace tenon::codegen::cpu::decoders
