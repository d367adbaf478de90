#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

namespace {

constexpr int64_t highAt = 128, scalesAt = 192, scaleAt = 208, groupSize = 16, groups = 16;

/// Scales of the groups, and what to add to the product of a scale and a quant.
struct Q6KScales {
  Value scales, offsets;
};

} // namespace

static Q6KScales decodeScales(VectorBuilder& b, Value block) {
  Value scale = b.splatLastF16(b.advance(block, scaleAt), groups);
  Value scales = b.fmul(toFloats(b, loadSignedBytes(b, b.advance(block, scalesAt), groups)), scale);
  return {scales, b.fmul(scales, b.splat(-32.0f, groups))};
}

/// ggml's `block_q6_K`, see `ir/encoding/Q6_K.cpp`: scale · scales[g] · (quant − 32), rounded once:
/// the first product is exact.
static Value decodeQ6K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  auto [scales, offsets] = decodeScales(b, block);
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

static void prepareQ6K(VectorBuilder& b, Value block, Value prepared) {
  auto [scales, offsets] = decodeScales(b, block);
  b.store(scales, prepared);
  b.store(offsets, b.advance(prepared, groups * 4));
}

/// Half a block: 64 bytes of low bits, 32 of high ones, 8 groups.
static llvm::SmallVector<Value> decodeQ6KUnit(VectorBuilder& b, Value block, Value prepared,
                                              Value unit, int64_t lanes) {
  constexpr int64_t half = 128, lowBytes = 64, highBytes = 32;
  Value lows = b.advance(block, b.mul(unit, lowBytes));
  Value highs = b.advance(b.advance(block, b.mul(unit, highBytes)), highAt);
  llvm::SmallVector<Value> values;
  for (int64_t first = 0; first < half; first += lanes) {
    Value group = b.mul(unit, half / groupSize);
    Value scale = splatPrepared(b, prepared, group, first / groupSize, lanes);
    Value offset = splatPrepared(b, prepared, group, groups + first / groupSize, lanes);
    Value low = PackedBits{4, 64}.load(b, lows, first, lanes);
    Value high = PackedBits{2, 32}.load(b, highs, first, lanes);
    values.push_back(b.fma(toFloats(b, joinBits(b, low, high, 4)), scale, offset));
  }
  return values;
}

static const BlockUnits q6kUnits = {128, 2 * groups, prepareQ6K, decodeQ6KUnit};

extern constexpr WeightDecoder q6_k = {"q6_k", decodeQ6K, &q6kUnits};

} // namespace tenon::codegen::cpu::decoders
