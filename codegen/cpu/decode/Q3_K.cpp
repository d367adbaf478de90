#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static constexpr int64_t lowAt = 32, groupSize = GroupFactors::groupSize,
                         groups = GroupFactors::groups;

/// The scales are scale · (scales[g] − 32).
static GroupFactors decodeFactors(VectorBuilder& b, Value block) {
  constexpr int64_t lowScalesAt = 96, highScalesAt = 104, scaleAt = 108;
  Value lowBytes = loadUnsignedBytes(b, b.advance(block, lowScalesAt), 8);
  Value low = b.concat(extractBits(b, lowBytes, 0, 4), extractBits(b, lowBytes, 4, 4));
  Value highBytes = loadUnsignedBytes(b, b.advance(block, highScalesAt), 4);
  auto high = [&](int64_t quarter) { return extractBits(b, highBytes, 2 * quarter, 2); };
  Value bits =
      joinBits(b, low, b.concat(b.concat(high(0), high(1)), b.concat(high(2), high(3))), 4);
  Value centred = b.fsub(toFloats(b, bits), b.splat(32.0f, groups));
  Value scales = b.fmul(centred, b.splatLastF16(b.advance(block, scaleAt), groups));
  return {scales, b.fmul(scales, b.splat(-4.0f, groups))};
}

/// ggml's `block_q3_K`, see `ir/encoding/Q3_K.cpp`: scale · (scales[g] − 32) · (quant − 4), exact.
static Value decodeQ3K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  auto [scales, offsets] = decodeFactors(b, block);
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value low = PackedBits{2, 32}.load(b, b.advance(block, lowAt), start, part);
    Value high = PackedBits{1, 32}.load(b, block, start, part);
    return b.fma(toFloats(b, joinBits(b, low, high, 2)),
                 splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

/// A half has 32 bytes of low bits; the third bits are bits 4 · unit to 4 · unit + 3 of the 32
/// bytes of high bits.
static Value decodePart(VectorBuilder& b, Value block, Value unit, int64_t first, int64_t lanes,
                        Value scale, Value offset) {
  constexpr int64_t halfBytes = 32, run = 32, runsOfHalf = 4;
  Value lows = b.advance(b.advance(block, b.mul(unit, halfBytes)), lowAt);
  Value low = PackedBits{2, run}.load(b, lows, first, lanes);
  Value bytes = loadUnsignedBytes(b, b.advance(block, first % run), lanes);
  Value shift = arith::TruncIOp::create(b, b.getI32Type(), b.mul(unit, runsOfHalf));
  Value ofHalf = arith::ShRUIOp::create(b, bytes, b.splat(shift, lanes));
  Value high = extractBits(b, ofHalf, first / run, 1);
  return decodeBits(b, 3, joinBits(b, low, high, 2), scale, offset);
}

extern constexpr WeightDecoder q3_k = {"q3_k", decodeQ3K,
                                       &HalfBlocks<decodeFactors, decodePart>::units};

} // namespace tenon::codegen::cpu::decoders
