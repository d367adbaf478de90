#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

/// Bits of the 16 bytes that the scales and minimums are taken from: those of `bytes`, byte
/// `places[i]` for number i, shifted right by `shifts[i]` and masked with `masks[i]`.
static Value gatherBits(VectorBuilder& b, Value bytes, llvm::ArrayRef<int64_t> places,
                        llvm::ArrayRef<int32_t> shifts, llvm::ArrayRef<int32_t> masks) {
  Value chosen = vector::ShuffleOp::create(b, bytes, bytes, places);
  Value wide = arith::ExtUIOp::create(b, VectorType::get({16}, b.getI32Type()), chosen);
  Value shifted = arith::ShRUIOp::create(b, wide, integers(b, shifts));
  return arith::AndIOp::create(b, shifted, integers(b, masks));
}

/// All sixteen numbers in one vector: numbers 0 to 3 of each kind are the low six bits of their
/// byte; 4 to 7 have their low four bits in a byte that they share, scale below and minimum above,
/// and their upper two above the six bits of numbers 0 to 3.
Value unpackSixBitScales(VectorBuilder& b, Value block) {
  Value bytes = b.load(VectorType::get({16}, b.getI8Type()), block);
  Value low = gatherBits(b, bytes, {4, 5, 6, 7, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15},
                         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4},
                         {63, 63, 63, 63, 15, 15, 15, 15, 63, 63, 63, 63, 15, 15, 15, 15});
  Value high = gatherBits(b, bytes, {4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11},
                          {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                          {0, 0, 0, 0, 48, 48, 48, 48, 0, 0, 0, 0, 48, 48, 48, 48});
  return arith::OrIOp::create(b, low, high);
}

void prepareSixBitScales(VectorBuilder& b, Value block, Value prepared) {
  Value factors = b.loadFloats(b.getF16Type(), block, 4, 4); // scale, minimum, then other bytes
  Value spread = vector::ShuffleOp::create(
      b, factors, factors, llvm::ArrayRef<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  b.store(b.fmul(toFloats(b, unpackSixBitScales(b, block)), spread), prepared);
}

Value splatPrepared(VectorBuilder& b, Value prepared, Value index, int64_t offset, int64_t lanes) {
  Value place = b.advance(b.advance(prepared, b.mul(index, 4)), offset * 4);
  return b.splat(b.load(b.getF32Type(), place), lanes);
}

} // namespace tenon::codegen::cpu

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q4_K`, see `ir/encoding/Q4_K.cpp`: scale · nibble − minimum, rounded once.
static Value decodeQ4K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 16, groupSize = 32;
  GroupScales group = decodeSixBitScales(b, block);
  Value offsets = b.fmul(group.minimums, b.splat(-1.0f, 8));
  return decodeByGroups(b, groupSize / 2, first, count, [&](int64_t start, int64_t part) {
    Value nibbles = PackedBits{4, groupSize}.loadLoose(b, b.advance(block, quantsAt), start, part);
    return decodeBits(b, 4, nibbles, splatLane(b, group.scales, start / groupSize, part),
                      splatLane(b, offsets, start / groupSize, part));
  });
}

/// 32 bytes: the nibbles below are one group, those above the next.
static llvm::SmallVector<Value> decodeQ4KUnit(VectorBuilder& b, Value block, Value prepared,
                                              Value unit, int64_t lanes) {
  constexpr int64_t quantsAt = 16, groupSize = 32, minimumsAt = 8;
  Value quants = b.advance(b.advance(block, b.mul(unit, groupSize)), quantsAt);
  llvm::SmallVector<Value> values;
  for (int64_t half = 0; half < 2; ++half) {
    Value scale = splatPrepared(b, prepared, b.mul(unit, 2), half, lanes);
    Value minimum = splatPrepared(b, prepared, b.mul(unit, 2), half + minimumsAt, lanes);
    Value offset = arith::NegFOp::create(b, minimum);
    for (int64_t first = 0; first < groupSize; first += lanes)
      values.push_back(decodeBits(
          b, 4, PackedBits{4, groupSize}.loadLoose(b, quants, half * groupSize + first, lanes),
          scale, offset));
  }
  return values;
}

static const BlockUnits q4kUnits = {64, preparedSixBitFloats, prepareSixBitScales, decodeQ4KUnit};

extern constexpr WeightDecoder q4_k = {"q4_k", decodeQ4K, &q4kUnits};

} // namespace tenon::codegen::cpu::decoders
