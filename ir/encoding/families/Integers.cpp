#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/GroupIntegers.h"
#include "ir/encoding/internal/Planes.h"
#include "ir/encoding/internal/RangeQuants.h"

namespace tenon::encodings {

namespace {

/// Integers of 2, 3, 4 or 8 bits in groups of 32, 64 or 128, each with a scale in binary16 or
/// bfloat16, as GPTQ, AWQ and others make them: `int4_g128_f16` is scale · (quant − 8),
/// `int4_g128_f16_zero` scale · (quant − zero), `int4_g128_f16_min` scale · quant + minimum. Longer
/// groups are cut, their scale repeated. A block is a group; checkpoints are repacked into it
/// (`ir/containers`).
///
/// | bytes  | holds                                                                             |
/// |--------|-----------------------------------------------------------------------------------|
/// | 0-1    | scale                                                                             |
/// | 2-3    | zero, an unsigned integer, or minimum, a number as the scale; missing in the first |
/// | then   | quants. 4 bits: 16 bytes for each 32, byte j of them with j and j + 16; 2 bits:    |
/// |        | 8 bytes for each 32, byte j with j, j + 8, j + 16, j + 24; 3 bits: bits 0-1 as     |
/// |        | those of 2 bits, then bit 2 of all, in order; 8 bits: in order                     |
template <size_t bits_, size_t size_, BlockFormat::NumberType type_, ZeroKind zero_>
struct IntegerBlock {
  static constexpr size_t bits = bits_, size = size_;
  static constexpr BlockFormat::NumberType type = type_;
  static constexpr ZeroKind zero = zero_;
  static constexpr size_t headBytes = zero == ZeroKind::Middle ? 2 : 4;
  /// Bits of a quant in the first plane; a third has one of its own.
  static constexpr size_t lowBits = bits == 3 ? 2 : bits;
  static constexpr size_t lowStride = bits == 8 ? 32 : 4 * lowBits;
  static constexpr size_t lowBytes = size * lowBits / 8;
  using Low = BitPlane<lowBits, lowStride, size>;
  using High = BitPlane<1, 1, size>;

  uint8_t head[headBytes];
  uint8_t quants[size * bits / 8];
};

template <typename Block> void encodeIntegers(const float* values, Block& block) {
  constexpr int maxQuant = (1 << Block::bits) - 1, half = 1 << (Block::bits - 1);
  uint8_t quants[Block::size];
  float scale = 0;
  if constexpr (Block::zero == ZeroKind::Middle) {
    scale = quantizeAboutZero<half, Block::size>(values, quants);
  } else if constexpr (Block::zero == ZeroKind::Stored) {
    ScaleAndZero both = quantizeAboutStoredZero<maxQuant, Block::size>(values, quants);
    scale = both.scale;
    storeHalf(block.head + 2, both.zero);
  } else {
    auto [factor, minimum] = quantizeAboveMinimum<maxQuant, Block::size>(values, quants);
    scale = factor;
    storeHalf(block.head + 2, roundTo<Block::type>(minimum));
  }
  storeHalf(block.head, roundTo<Block::type>(scale));
  reinterpret_cast<typename Block::Low*>(block.quants)->pack(quants);
  if constexpr (Block::bits == 3)
    reinterpret_cast<typename Block::High*>(block.quants + Block::lowBytes)
        ->pack(quants, Block::lowBits);
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  name << "int" << Block::bits << "_g" << Block::size;
  return name << suffixOf(Block::type) << suffixOf(Block::zero);
}

template <typename Block> constexpr BlockFormat describe(std::string_view name) {
  constexpr size_t quantsAt = Block::headBytes;
  float scale = randomScaleOf(Block::bits);
  BlockFormat format = {.encoding = name,
                        .ggufFileType = {},
                        .scale = {0, scale, Block::type},
                        .planes = {Block::Low::at(quantsAt)}};
  if (Block::bits == 3)
    format.planes[1] = Block::High::at(quantsAt + Block::lowBytes, Block::lowBits);
  if (Block::zero == ZeroKind::Minimum)
    format.minimum = {2, -scale * ((1 << Block::bits) - 1) / 2, Block::type};
  else
    format.zero = 1 << (Block::bits - 1);
  if (Block::zero == ZeroKind::Stored)
    format.zeroOffset = 2;
  return format;
}

template <typename Block> constexpr FamilyName integerName = nameOf<Block>();
template <typename Block>
constexpr BlockFormat integerFormat = describe<Block>(integerName<Block>.view());
template <typename Block>
constexpr Encoding integerEncoding = {
    .name = integerName<Block>.view(),
    .blockSize = Block::size,
    .blockBytes = sizeof(Block),
    .ggufType = -1,
    .decode = decodePlanes<Block, integerFormat<Block>>,
    .encode = encodeBlocks<double, Block, encodeIntegers<Block>>,
    .encodeF32 = encodeBlocks<float, Block, encodeIntegers<Block>>,
};

constexpr size_t bitCounts[] = {2, 3, 4, 8}, groupSizes[] = {32, 64, 128};
constexpr BlockFormat::NumberType types[] = {BlockFormat::NumberType::F16,
                                             BlockFormat::NumberType::Bf16};
constexpr ZeroKind zeroKinds[] = {ZeroKind::Middle, ZeroKind::Stored, ZeroKind::Minimum};
constexpr size_t members =
    std::size(bitCounts) * std::size(groupSizes) * std::size(types) * std::size(zeroKinds);

template <size_t i>
using Member =
    IntegerBlock<bitCounts[i / 18], groupSizes[i / 6 % 3], types[i / 3 % 2], zeroKinds[i % 3]>;

template <size_t... i>
constexpr std::array<const Encoding*, members> listEncodings(std::index_sequence<i...>) {
  return {&integerEncoding<Member<i>>...};
}
template <size_t... i>
constexpr std::array<const BlockFormat*, members> listFormats(std::index_sequence<i...>) {
  return {&integerFormat<Member<i>>...};
}
constexpr auto encodings = listEncodings(std::make_index_sequence<members>());
constexpr auto formats = listFormats(std::make_index_sequence<members>());

} // namespace

extern const EncodingFamily integers;
constinit const EncodingFamily integers = {encodings, formats};

} // namespace tenon::encodings
