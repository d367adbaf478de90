#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static constexpr int64_t quantsAt = 16, groupSize = 16, groups = 16;

/// The scales, and what is added to scale · quant: the minimums, negative.
static GroupScales decodeScales(VectorBuilder& b, Value block) {
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
  auto [scales, offsets] = decodeScales(b, block);
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value quants = PackedBits{2, 32}.load(b, b.advance(block, quantsAt), start, part);
    return b.fma(toFloats(b, quants), splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

static void prepareQ2K(VectorBuilder& b, Value block, Value prepared) {
  auto [scales, offsets] = decodeScales(b, block);
  b.store(scales, prepared);
  b.store(offsets, b.advance(prepared, groups * 4));
}

/// Half a block: 32 bytes of quants, 8 groups.
static llvm::SmallVector<Value> decodeQ2KUnit(VectorBuilder& b, Value block, Value prepared,
                                              Value unit, int64_t lanes) {
  constexpr int64_t half = 128, halfBytes = 32;
  Value quants = b.advance(b.advance(block, b.mul(unit, halfBytes)), quantsAt);
  Value group = b.mul(unit, half / groupSize);
  llvm::SmallVector<Value> values;
  for (int64_t first = 0; first < half; first += lanes)
    values.push_back(
        decodeBits(b, 2, PackedBits{2, 32}.loadLoose(b, quants, first, lanes),
                   splatPrepared(b, prepared, group, first / groupSize, lanes),
                   splatPrepared(b, prepared, group, groups + first / groupSize, lanes)));
  return values;
}

static const BlockUnits q2kUnits = {128, 2 * groups, prepareQ2K, decodeQ2KUnit};

extern constexpr WeightDecoder q2_k = {"q2_k", decodeQ2K, &q2kUnits};

} // namespace tenon::codegen::cpu::decoders
