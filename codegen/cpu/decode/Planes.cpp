#include "codegen/cpu/decode/Planes.h"

#include <numeric>

#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/SuperBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

/// levels[quant] as f32, by a tree of selections by the bits of the quant.
static Value selectLevels(VectorBuilder& b, llvm::ArrayRef<int8_t> levels, Value quants,
                          int64_t count) {
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

/// Binary16 numbers whose bits are the lower ones of `bits`, as f32.
static Value bitsAsHalves(VectorBuilder& b, Value bits, int64_t count) {
  Value lower = arith::TruncIOp::create(b, VectorType::get({count}, b.getI16Type()), bits);
  Value numbers = arith::BitcastOp::create(b, VectorType::get({count}, b.getF16Type()), lower);
  return b.widen(numbers, b.getF16Type());
}

/// Halves of four E4M3 numbers, of the lower seven bits of a byte each, which in the place of a
/// binary16's upper ones are 2^8 times too small; 0 where all are set and the eighth is not.
static Value loadHalvesOfUE4M3(VectorBuilder& b, Value pointer) {
  constexpr float half = 0x1p7f;
  constexpr int64_t count = 4;
  auto all = [&](int32_t value) { return integers(b, llvm::SmallVector<int32_t>(count, value)); };
  Value bytes = loadUnsignedBytes(b, pointer, count);
  Value isNone = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bytes, all(0x7F));
  Value magnitudes = b.select(isNone, all(0), extractBits(b, bytes, 0, 7));
  Value numbers = bitsAsHalves(b, arith::ShLIOp::create(b, magnitudes, all(7)), count);
  return b.fmul(numbers, b.splat(half, count));
}

/// Half of such a number, that of byte `place` after `pointer`. Parts of a block that LLVM sees
/// together share those of four neighbours; groups' quants lie behind the bytes.
static Value splatHalfUE4M3(VectorBuilder& b, Value pointer, int64_t place, int64_t count) {
  constexpr int64_t together = 4;
  Value halves = loadHalvesOfUE4M3(b, b.advance(pointer, place / together * together));
  return splatLane(b, halves, place % together, count);
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
    return splatHalfUE4M3(b, b.advance(block, number.offset), place, count);
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
static Value signedHalves(VectorBuilder& b, Value magnitude, int64_t shift, Value sign,
                          int64_t count) {
  Value zeros = integers(b, llvm::SmallVector<int32_t>(count, 0));
  return bitsAsHalves(b, joinBits(b, joinBits(b, zeros, magnitude, shift), sign, 15), count);
}

/// E4M3 numbers, 1/256 times as large: their seven bits in the place of a binary16's upper ones.
static Value decodeE4M3(VectorBuilder& b, Value bytes, int64_t count) {
  return signedHalves(b, extractBits(b, bytes, 0, 7), 7, extractBits(b, bytes, 7, 1), count);
}

/// E2M1 numbers, twice as large: their three bits in the place of a binary16's lower ones of the
/// exponent and upper one of the mantissa are a number 2^14 times too small.
static Value decodeDoubledE2M1(VectorBuilder& b, Value nibbles, int64_t count) {
  constexpr float doubled = 0x1p15f;
  Value sign = extractBits(b, nibbles, 3, 1), magnitude = extractBits(b, nibbles, 0, 3);
  return b.fmul(signedHalves(b, magnitude, 9, sign, count), b.splat(doubled, count));
}

/// The quants as the numbers that they say; of E4M3 256 times too small, of E2M1 twice as large.
static Value loadNumbers(VectorBuilder& b, const BlockFormat& format, Value block, int64_t first,
                         int64_t count) {
  Value quants = loadQuants(b, format, block, first, count);
  switch (format.kind) {
  case BlockFormat::QuantKind::E4M3:
    return decodeE4M3(b, quants, count);
  case BlockFormat::QuantKind::E2M1:
    return decodeDoubledE2M1(b, quants, count);
  case BlockFormat::QuantKind::Integer:
    break;
  }
  return format.levels.empty() ? toFloats(b, quants)
                               : selectLevels(b, format.levels, quants, count);
}

/// What `loadNumbers` gives, as values. `place`: of the group's numbers.
static Value scaleNumbers(VectorBuilder& b, const BlockFormat& format, Value block, int64_t place,
                          Value numbers, int64_t count) {
  constexpr float unitOfE4M3 = 256;
  Value scale = splatNumber(b, format.scale, block, place, count);
  if (format.kind == BlockFormat::QuantKind::E4M3)
    return b.fmul(numbers, b.fmul(scale, b.splat(unitOfE4M3, count)));
  if (format.kind == BlockFormat::QuantKind::Integer && format.levels.empty())
    return b.fma(numbers, scale, offsetOf(b, format, block, place, scale, count));
  Value values = b.fmul(numbers, scale);
  return format.blockScale ? b.fmul(values, splatNumber(b, *format.blockScale, block, 0, count))
                           : values;
}

//===-- Tables of values ---------------------------------------------------------------------===//

/// Whether quants have few enough bits; those of a plane of single bits are at hand as words.
static bool fitsTables(const BlockFormat& format) {
  const auto& [low, high] = format.planes;
  constexpr uint32_t mostBits = 4;
  return format.kind != BlockFormat::QuantKind::E4M3 && low.bits + high.bits <= mostBits &&
         (high.bits == 0 || (high.bits == 1 && high.stride == 1 && high.shift == low.bits));
}

/// E2M1 numbers, twice as large.
static constexpr float doubledE2M1[tableSize] = {0,     1,  2,  3,  4,  6,  8,  12,
                                                 -0.0f, -1, -2, -3, -4, -6, -8, -12};

/// What `loadNumbers` gives for a quant.
static float numberOf(const BlockFormat& format, int64_t quant) {
  if (format.kind == BlockFormat::QuantKind::E2M1)
    return doubledE2M1[quant];
  return format.levels.empty() ? static_cast<float>(quant) : format.levels[quant];
}

/// Bit i of those at `pointer` for i in [first, first + 16), at bit `place` of a word that has
/// others, too.
static Value loadLooseBits(VectorBuilder& b, Value pointer, int64_t first, int64_t place) {
  constexpr int64_t wordBits = 32;
  llvm::SmallVector<int32_t> turns;
  for (int64_t i = first; i < first + tableSize; ++i)
    turns.push_back(static_cast<int32_t>((i - place) & (wordBits - 1)));
  Value word = b.load(b.getI32Type(), b.advance(pointer, first / wordBits * 4));
  Value words = b.splat(word, tableSize);
  return LLVM::FshrOp::create(b, words.getType(), words, words, integers(b, turns));
}

/// Sixteen values. Where groups are longer, a table of all numbers that quants say is scaled once a
/// group, to the same bits.
static Value lookUpValues(VectorBuilder& b, const BlockFormat& format, Value block, int64_t place,
                          int64_t first) {
  const auto& [low, high] = format.planes;
  Value indices =
      PackedBits{low.bits, low.stride}.loadLoose(b, b.advance(block, low.offset), first, tableSize);
  if (high.bits > 0) {
    auto all = [&](int32_t value) {
      return integers(b, llvm::SmallVector<int32_t>(tableSize, value));
    };
    Value bits = loadLooseBits(b, b.advance(block, high.offset), first, high.shift);
    indices = arith::OrIOp::create(b, arith::AndIOp::create(b, indices, all(~(1 << high.shift))),
                                   arith::AndIOp::create(b, bits, all(1 << high.shift)));
  }
  auto scale = [&](Value values) {
    return scaleNumbers(b, format, block, place, values, tableSize);
  };
  Value table =
      makeTable(b, low.bits + high.bits, [&](int64_t quant) { return numberOf(format, quant); });
  return format.groupSize == tableSize ? scale(b.lookUp(table, indices))
                                       : b.lookUp(scale(table), indices);
}

Value decodePlanes(VectorBuilder& b, const BlockFormat& format, Value block, int64_t first,
                   int64_t count) {
  const BlockFormat::Plane& low = format.planes[0];
  // Short runs in the same bytes are one.
  int64_t run =
      std::max<int64_t>(low.stride, std::min<int64_t>(low.stride * 8 / low.bits, tableSize));
  if (count > run)
    return b.concat(decodePlanes(b, format, block, first, count / 2),
                    decodePlanes(b, format, block, first + count / 2, count / 2));
  int64_t place = format.groupSize == 0 ? 0 : first / format.groupSize * format.groupStride;
  if (canLookUp(b, count) && fitsTables(format))
    return lookUpValues(b, format, block, place, first);
  return scaleNumbers(b, format, block, place, loadNumbers(b, format, block, first, count), count);
}

//===-- Eight groups of 128 ------------------------------------------------------------------===//

constexpr int64_t wideGroups = 8, wideGroupSize = 128, wideHeadsAt = 512;

/// Numbers of type `type` in the lower halves of words, as f32.
static Value widenLowerHalves(VectorBuilder& b, BlockFormat::NumberType type, Value words) {
  if (type == BlockFormat::NumberType::Bf16) {
    Value shift = integers(b, llvm::SmallVector<int32_t>(wideGroups, 16));
    return arith::BitcastOp::create(b, b.f32s(wideGroups), arith::ShLIOp::create(b, words, shift));
  }
  return bitsAsHalves(b, words, wideGroups);
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
        decodeBits(b, 4, PackedBits{4, run}.loadLoose(b, quants, first, lanes), scale, offset));
  return values;
}

template <BlockFormat::NumberType type, bool hasZeros>
static constexpr BlockUnits wideUnits = {wideGroupSize, 2 * wideGroups, prepareWide<type, hasZeros>,
                                         decodeWideUnit};

//===-- Groups of sixteen E2M1 numbers -------------------------------------------------------===//

/// Units of two groups of `nvfp4`, or of `nvfp4_f32`, whose blocks begin with a scale of all
/// groups.
template <bool hasBlockScale> struct E2M1Groups {
  static constexpr int64_t groupSize = 16, groups = hasBlockScale ? 8 : 4;
  static constexpr int64_t scalesAt = hasBlockScale ? 4 : 0, quantsAt = scalesAt + groups;
  static constexpr int64_t unitElements = 2 * groupSize, floatBytes = 4;

  static bool matches(const BlockFormat& format) {
    return format.scale.type == BlockFormat::NumberType::UE4M3 &&
           format.blockScale.has_value() == hasBlockScale && format.scale.offset == scalesAt &&
           format.planes[0].offset == quantsAt;
  }

  /// Halves of the groups' scales, then that of all.
  static void prepare(VectorBuilder& b, Value block, Value prepared) {
    constexpr int64_t together = 4;
    for (int64_t first = 0; first < groups; first += together)
      b.store(loadHalvesOfUE4M3(b, b.advance(block, scalesAt + first)),
              b.advance(prepared, first * floatBytes));
    if (hasBlockScale)
      b.store(b.load(b.getF32Type(), block), b.advance(prepared, groups * floatBytes));
  }

  static llvm::SmallVector<Value> decode(VectorBuilder& b, Value block, Value prepared, Value unit,
                                         int64_t lanes) {
    constexpr PackedBits nibbles = {4, groupSize / 2};
    Value quants = b.advance(b.advance(block, b.mul(unit, unitElements / 2)), quantsAt);
    Value group = b.mul(unit, unitElements / groupSize);
    Value table = makeTable(b, nibbles.bits, [](int64_t quant) { return doubledE2M1[quant]; });
    llvm::SmallVector<Value> values;
    for (int64_t first = 0; first < unitElements; first += lanes) {
      Value numbers = canLookUp(b, lanes)
                          ? b.lookUp(table, nibbles.loadLoose(b, quants, first, lanes))
                          : decodeDoubledE2M1(b, nibbles.load(b, quants, first, lanes), lanes);
      Value scaled = b.fmul(numbers, splatPrepared(b, prepared, group, first / groupSize, lanes));
      values.push_back(hasBlockScale
                           ? b.fmul(scaled, splatPrepared(b, prepared, b.i64(0), groups, lanes))
                           : scaled);
    }
    return values;
  }

  static constexpr BlockUnits units = {unitElements, groups + 1, prepare, decode};
};

const BlockUnits* findUnitsOfPlanes(const BlockFormat& format) {
  using Type = BlockFormat::NumberType;
  if (E2M1Groups<false>::matches(format))
    return &E2M1Groups<false>::units;
  if (E2M1Groups<true>::matches(format))
    return &E2M1Groups<true>::units;
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
