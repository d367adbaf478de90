#include "codegen/cpu/decode/Planes.h"

#include <numeric>

#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/SuperBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// Bit i of those at `pointer` for i in [first, first + count), of one word of 32.
static Value loadSingleBits(VectorBuilder& b, Value pointer, int64_t first, int64_t count) {
  constexpr int64_t wordBits = 32;
  llvm::SmallVector<int32_t> places(count);
  std::iota(places.begin(), places.end(), static_cast<int32_t>(first % wordBits));
  Value word = b.load(b.getI32Type(), b.advance(pointer, first / wordBits * 4));
  Value bits = b.splat(word, count);
  return extractBits(b, arith::ShRUIOp::create(b, bits, integers(b, places)), 0, 1);
}

/// The numbers of a plane, not shifted.
static Value loadPlane(VectorBuilder& b, const BlockFormat::Plane& plane, Value block,
                       int64_t first, int64_t count) {
  Value pointer = b.advance(block, plane.offset);
  if (plane.bits == 1 && plane.stride == 1)
    return loadSingleBits(b, pointer, first, count);
  return PackedBits{plane.bits, plane.stride}.load(b, pointer, first, count);
}

/// The quants as integers.
static Value loadQuants(VectorBuilder& b, const BlockFormat& format, Value block, int64_t first,
                        int64_t count) {
  Value quants = loadPlane(b, format.planes[0], block, first, count);
  const BlockFormat::Plane& high = format.planes[1];
  if (high.bits == 0)
    return quants;
  return joinBits(b, quants, loadPlane(b, high, block, first, count), high.shift);
}

/// levels[quant] as f32. Where no instruction looks up 16 values: a tree of selections by the bits
/// of the quant.
static Value lookUpLevels(VectorBuilder& b, llvm::ArrayRef<int8_t> levels, Value quants,
                          int64_t count) {
  if (b.hasLookUp() && count == 16)
    return b.lookUp(
        toFloats(b, integers(b, llvm::SmallVector<int32_t>(levels.begin(), levels.end()))), quants);
  llvm::SmallVector<Value> candidates;
  for (int8_t level : levels)
    candidates.push_back(integers(b, llvm::SmallVector<int32_t>(count, level)));
  Value zero = integers(b, llvm::SmallVector<int32_t>(count, 0));
  for (int64_t bit = 0; candidates.size() > 1; ++bit) {
    Value isSet =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, extractBits(b, quants, bit, 1), zero);
    llvm::SmallVector<Value> chosen;
    for (size_t i = 0; i < candidates.size(); i += 2)
      chosen.push_back(b.select(isSet, candidates[i + 1], candidates[i]));
    candidates = std::move(chosen);
  }
  return toFloats(b, candidates.front());
}

static Value scalar(VectorBuilder& b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

/// Half of the power of two whose exponent, 127 above its own, is the byte at `pointer`: from 2 on
/// it is that of a binary32 less 1, below the number is subnormal.
static Value splatHalfE8M0(VectorBuilder& b, Value pointer, int64_t count) {
  Value exponent = arith::ExtUIOp::create(b, b.getI32Type(), b.load(b.getI8Type(), pointer));
  Value lower = arith::SubIOp::create(b, exponent, scalar(b, 1));
  Value normal = arith::ShLIOp::create(b, lower, scalar(b, 23));
  Value subnormal = arith::ShLIOp::create(b, scalar(b, 0x00200000), exponent);
  Value isSmall = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, exponent, scalar(b, 2));
  Value bits = arith::SelectOp::create(b, isSmall, subnormal, normal);
  return b.splat(arith::BitcastOp::create(b, b.getF32Type(), bits), count);
}

/// Half of the E4M3 number of the lower seven bits of the byte at `pointer`, which in the place of
/// a binary32's upper ones are 2^120 times too small; 0 where all are set and the eighth is not.
static Value splatHalfUE4M3(VectorBuilder& b, Value pointer, int64_t count) {
  constexpr float half = 0x1p119f;
  Value byte = arith::ExtUIOp::create(b, b.getI32Type(), b.load(b.getI8Type(), pointer));
  Value isNone = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, byte, scalar(b, 0x7F));
  Value magnitude = arith::AndIOp::create(b, byte, scalar(b, 0x7F));
  Value placed = arith::ShLIOp::create(b, magnitude, scalar(b, 20));
  Value bits = arith::SelectOp::create(b, isNone, scalar(b, 0), placed);
  Value number = arith::BitcastOp::create(b, b.getF32Type(), bits);
  return b.fmul(b.splat(number, count), b.splat(half, count));
}

/// A number of a group in `count` lanes; of `E8M0` and `UE4M3` half of it.
static Value splatNumber(VectorBuilder& b, const BlockFormat::Number& number, Value block,
                         int64_t place, int64_t count) {
  Value pointer = b.advance(block, number.offset + place);
  switch (number.type) {
  case BlockFormat::NumberType::F16:
    return number.offset < 6 ? b.splatF16(pointer, count) : b.splatLastF16(pointer, count);
  case BlockFormat::NumberType::Bf16:
    return b.splat(b.loadFloat(b.getBF16Type(), pointer), count);
  case BlockFormat::NumberType::F32:
    return b.splat(b.loadFloat(b.getF32Type(), pointer), count);
  case BlockFormat::NumberType::E8M0:
    return splatHalfE8M0(b, pointer, count);
  case BlockFormat::NumberType::UE4M3:
    return splatHalfUE4M3(b, pointer, count);
  }
  llvm_unreachable("all types of numbers");
}

/// A group's own zero as f32.
static Value splatZero(VectorBuilder& b, int64_t offset, Value block, int64_t count) {
  Value stored = b.load(b.getI16Type(), b.advance(block, offset));
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), stored);
  return b.splat(arith::SIToFPOp::create(b, b.getF32Type(), wide), count);
}

/// What is added to scale · quant: the minimum, or −zero · scale. `place`: of the group's numbers.
static Value offsetOf(VectorBuilder& b, const BlockFormat& format, Value block, int64_t place,
                      Value scale, int64_t count) {
  if (format.hasMinimum())
    return splatNumber(b, format.minimum, block, place, count);
  if (format.zeroOffset)
    return b.fmul(arith::NegFOp::create(b, scale),
                  splatZero(b, *format.zeroOffset + place, block, count));
  return b.fmul(scale, b.splat(static_cast<float>(-format.zero), count));
}

/// Binary16 numbers of `magnitude` from bit `shift` on and a sign, as f32.
static Value bitsAsHalves(VectorBuilder& b, Value magnitude, int64_t shift, Value sign,
                          int64_t count) {
  auto halves = VectorType::get({count}, b.getI16Type());
  Value zeros = integers(b, llvm::SmallVector<int32_t>(count, 0));
  Value placed = joinBits(b, joinBits(b, zeros, magnitude, shift), sign, 15);
  Value bits = arith::TruncIOp::create(b, halves, placed);
  Value numbers = arith::BitcastOp::create(b, VectorType::get({count}, b.getF16Type()), bits);
  return b.widen(numbers, b.getF16Type());
}

/// E4M3 numbers, 1/256 times as large: their seven bits in the place of a binary16's upper ones.
static Value decodeE4M3(VectorBuilder& b, Value bytes, int64_t count) {
  return bitsAsHalves(b, extractBits(b, bytes, 0, 7), 7, extractBits(b, bytes, 7, 1), count);
}

/// E2M1 numbers, twice as large: their three bits in the place of a binary16's lower ones of the
/// exponent and upper one of the mantissa are a number 2^14 times too small.
static Value decodeDoubledE2M1(VectorBuilder& b, Value nibbles, int64_t count) {
  constexpr float doubled = 0x1p15f;
  Value sign = extractBits(b, nibbles, 3, 1), magnitude = extractBits(b, nibbles, 0, 3);
  return b.fmul(bitsAsHalves(b, magnitude, 9, sign, count), b.splat(doubled, count));
}

Value decodePlanes(VectorBuilder& b, const BlockFormat& format, Value block, int64_t first,
                   int64_t count) {
  int64_t run = format.planes[0].stride;
  if (count > run)
    return b.concat(decodePlanes(b, format, block, first, count / 2),
                    decodePlanes(b, format, block, first + count / 2, count / 2));
  int64_t place = format.groupSize == 0 ? 0 : first / format.groupSize * format.groupStride;
  Value quants = loadQuants(b, format, block, first, count);
  auto loadScale = [&] { return splatNumber(b, format.scale, block, place, count); };
  switch (format.kind) {
  case BlockFormat::QuantKind::E4M3: {
    constexpr float unit = 256;
    return b.fmul(decodeE4M3(b, quants, count), b.fmul(loadScale(), b.splat(unit, count)));
  }
  case BlockFormat::QuantKind::E2M1: {
    Value values = b.fmul(decodeDoubledE2M1(b, quants, count), loadScale());
    if (!format.blockScale)
      return values;
    return b.fmul(values, splatNumber(b, *format.blockScale, block, 0, count));
  }
  case BlockFormat::QuantKind::Integer:
    break;
  }
  if (!format.levels.empty()) {
    Value levels = lookUpLevels(b, format.levels, quants, count);
    return b.fmul(levels, loadScale());
  }
  bool areNibbles = format.planes[0].bits == 4 && format.planes[1].bits == 0;
  if (!areNibbles)
    quants = toFloats(b, quants);
  Value scale = loadScale();
  Value offset = offsetOf(b, format, block, place, scale, count);
  return areNibbles ? decodeNibbles(b, quants, scale, offset) : b.fma(quants, scale, offset);
}

//===-- Eight groups of 128 ------------------------------------------------------------------===//

constexpr int64_t wideGroups = 8, wideGroupSize = 128, wideHeadsAt = 512;

/// Numbers of type `type` in the lower halves of words, as f32.
static Value widenLowerHalves(VectorBuilder& b, BlockFormat::NumberType type, Value words) {
  if (type == BlockFormat::NumberType::Bf16) {
    Value shift = integers(b, llvm::SmallVector<int32_t>(wideGroups, 16));
    return arith::BitcastOp::create(b, b.f32s(wideGroups), arith::ShLIOp::create(b, words, shift));
  }
  Value bits = arith::TruncIOp::create(b, VectorType::get({wideGroups}, b.getI16Type()), words);
  auto halves = VectorType::get({wideGroups}, b.getF16Type());
  return b.widen(arith::BitcastOp::create(b, halves, bits), b.getF16Type());
}

/// The scales of all groups, then what is added to scale · quant, −zero · scale.
template <BlockFormat::NumberType type, bool hasZeros>
static void prepareWide(VectorBuilder& b, Value block, Value prepared) {
  constexpr int64_t floatBytes = 4, middle = 8;
  Value heads = b.advance(block, wideHeadsAt), scales, zeros;
  if (hasZeros) {
    Value words = b.load(VectorType::get({wideGroups}, b.getI32Type()), heads);
    scales = widenLowerHalves(b, type, words);
    zeros = toFloats(b, extractBits(b, words, 16, 16));
  } else {
    Type element = type == BlockFormat::NumberType::F16 ? Type(b.getF16Type()) : b.getBF16Type();
    scales = b.loadFloats(element, heads, wideGroups, wideGroups);
    zeros = b.splat(static_cast<float>(middle), wideGroups);
  }
  b.store(scales, prepared);
  b.store(b.fmul(arith::NegFOp::create(b, scales), zeros),
          b.advance(prepared, wideGroups * floatBytes));
}

static llvm::SmallVector<Value> decodeWideUnit(VectorBuilder& b, Value block, Value prepared,
                                               Value unit, int64_t lanes) {
  constexpr int64_t run = 16;
  Value quants = b.advance(block, b.mul(unit, wideGroupSize / 2));
  Value scale = splatPrepared(b, prepared, unit, 0, lanes);
  Value offset = splatPrepared(b, prepared, unit, wideGroups, lanes);
  llvm::SmallVector<Value> values;
  for (int64_t first = 0; first < wideGroupSize; first += lanes)
    values.push_back(
        decodeNibbles(b, PackedBits{4, run}.load(b, quants, first, lanes), scale, offset));
  return values;
}

template <BlockFormat::NumberType type, bool hasZeros>
static constexpr BlockUnits wideUnits = {wideGroupSize, 2 * wideGroups, prepareWide<type, hasZeros>,
                                         decodeWideUnit};

const BlockUnits* findUnitsOfPlanes(const BlockFormat& format) {
  using Type = BlockFormat::NumberType;
  bool isWide = format.groupSize == wideGroupSize && format.scale.offset == wideHeadsAt &&
                format.planes[0].bits == 4;
  if (!isWide)
    return nullptr;
  bool isF16 = format.scale.type == Type::F16;
  if (format.zeroOffset)
    return isF16 ? &wideUnits<Type::F16, true> : &wideUnits<Type::Bf16, true>;
  return isF16 ? &wideUnits<Type::F16, false> : &wideUnits<Type::Bf16, false>;
}

} // namespace tenon::codegen::cpu
