#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static constexpr int64_t quantsAt = 16, groupSize = GroupFactors::groupSize,
                         groups = GroupFactors::groups;

/// The offsets are the minimums, negative.
static GroupFactors decodeFactors(VectorBuilder& b, Value block) {
  constexpr int64_t scaleAt = 80, minimumAt = 82;
  Value bytes = loadUnsignedBytes(b, block, groups);
  Value scales = b.fmul(toFloats(b, extractBits(b, bytes, 0, 4)),
                        b.splatLastF16(b.advance(block, scaleAt), groups));
  Value minimums = b.fmul(toFloats(b, extractBits(b, bytes, 4, 4)),
                          b.splatLastF16(b.advance(block, minimumAt), groups));
  return {scales, b.fmul(minimums, b.splat(-1.0f, groups))};
}

/// ggml's `block_q2_K`, see `ir/encoding/Q2_K.cpp`: scale · quant − minimum, rounded once.
static Value decodeQ2K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  auto [scales, offsets] = decodeFactors(b, block);
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value quants = PackedBits{2, 32}.load(b, b.advance(block, quantsAt), start, part);
    return b.fma(toFloats(b, quants), splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

/// A half has 32 bytes of quants.
static Value decodePart(VectorBuilder& b, Value block, Value unit, int64_t first, int64_t lanes,
                        Value scale, Value offset) {
  constexpr int64_t halfBytes = 32;
  Value quants = b.advance(b.advance(block, b.mul(unit, halfBytes)), quantsAt);
  return decodeBits(b, 2, PackedBits{2, 32}.loadLoose(b, quants, first, lanes), scale, offset);
}

extern constexpr WeightDecoder q2_k = {"q2_k", decodeQ2K,
                                       &HalfBlocks<decodeFactors, decodePart>::units};

} // namespace tenon::codegen::cpu::decoders
