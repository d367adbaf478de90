#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static constexpr int64_t highAt = 128, scalesAt = 192, scaleAt = 208,
                         groupSize = GroupFactors::groupSize, groups = GroupFactors::groups;

static GroupFactors decodeFactors(VectorBuilder& b, Value block) {
  Value scale = b.splatLastF16(b.advance(block, scaleAt), groups);
  Value scales = b.fmul(toFloats(b, loadSignedBytes(b, b.advance(block, scalesAt), groups)), scale);
  return {scales, b.fmul(scales, b.splat(-32.0f, groups))};
}

/// ggml's `block_q6_K`, see `ir/encoding/Q6_K.cpp`: scale · scales[g] · (quant − 32), rounded once:
/// the first product is exact.
static Value decodeQ6K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  auto [scales, offsets] = decodeFactors(b, block);
  return decodeByGroups(b, groupSize, first, count,
                        [&, scales = scales, offsets = offsets](int64_t start, int64_t part) {
                          Value low = PackedBits{4, 64}.load(b, block, start, part);
                          Value high =
                              PackedBits{2, 32}.load(b, b.advance(block, highAt), start, part);
                          return b.fma(toFloats(b, joinBits(b, low, high, 4)),
                                       splatLane(b, scales, start / groupSize, part),
                                       splatLane(b, offsets, start / groupSize, part));
                        });
}

/// A half has 64 bytes of low bits, 32 of high ones.
static Value decodePart(VectorBuilder& b, Value block, Value unit, int64_t first, int64_t lanes,
                        Value scale, Value offset) {
  constexpr int64_t lowBytes = 64, highBytes = 32;
  Value lows = b.advance(block, b.mul(unit, lowBytes));
  Value highs = b.advance(b.advance(block, b.mul(unit, highBytes)), highAt);
  Value low = PackedBits{4, 64}.load(b, lows, first, lanes);
  Value high = PackedBits{2, 32}.load(b, highs, first, lanes);
  return b.fma(toFloats(b, joinBits(b, low, high, 4)), scale, offset);
}

extern constexpr WeightDecoder q6_k = {"q6_k", decodeQ6K,
                                       &HalfBlocks<decodeFactors, decodePart>::units};

} // namespace tenon::codegen::cpu::decoders
