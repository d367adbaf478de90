#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

/// 32 bytes of low bits as in `q4_k`; bit 4 of the two groups is bits 2 · unit and 2 · unit + 1 of
/// the 32 bytes of high bits.
static llvm::SmallVector<Value> decodeQ5KUnit(VectorBuilder& b, Value block, Value prepared,
                                              Value unit, int64_t lanes) {
  constexpr int64_t highAt = 16, lowAt = 48, groupSize = 32, minimumsAt = 8;
  Value quants = b.advance(b.advance(block, b.mul(unit, groupSize)), lowAt);
  Value shift = arith::TruncIOp::create(b, b.getI32Type(), b.mul(unit, 2));
  llvm::SmallVector<Value> values;
  for (int64_t half = 0; half < 2; ++half) {
    Value scale = splatPrepared(b, prepared, b.mul(unit, 2), half, lanes);
    Value minimum = splatPrepared(b, prepared, b.mul(unit, 2), half + minimumsAt, lanes);
    Value offset = arith::NegFOp::create(b, minimum);
    for (int64_t first = 0; first < groupSize; first += lanes) {
      Value low = PackedBits{4, groupSize}.load(b, quants, half * groupSize + first, lanes);
      Value bytes = loadUnsignedBytes(b, b.advance(block, highAt + first), lanes);
      Value high = extractBits(b, arith::ShRUIOp::create(b, bytes, b.splat(shift, lanes)), half, 1);
      values.push_back(b.fma(toFloats(b, joinBits(b, low, high, 4)), scale, offset));
    }
  }
  return values;
}

static const BlockUnits q5kUnits = {64, preparedSixBitFloats, prepareSixBitScales, decodeQ5KUnit};

extern constexpr WeightDecoder q5_k = {"q5_k", decodeQ5K, &q5kUnits};

} // namespace tenon::codegen::cpu::decoders
