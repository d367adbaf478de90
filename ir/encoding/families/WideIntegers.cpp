#include <algorithm>
#include <cstddef>

#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/GroupIntegers.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

namespace {

/// Eight, four or two groups of 128 integers of 4 bits that lie together, the quants of all before
/// what scales them: `int4_g128x8_f16` and `int4_g128x8_f16_zero` hold what eight blocks of
/// `int4_g128_f16` and `int4_g128_f16_zero` do, `int4_g128x4_f16_zero` four, `int4_g128x2_f16_zero`
/// two. A block is a multiple of 16 bytes, so that a thread takes 16 aligned bytes of quants at a
/// time; checkpoints are repacked into the longest that divide their rows (`ir/containers`).
///
/// | bytes     | holds, of n groups                                                           |
/// |-----------|------------------------------------------------------------------------------|
/// | 0-64n − 1 | quants: 16 bytes for each 32, byte j of them with j and j + 16               |
/// | then      | for each group its scale, and where there are zeros an unsigned integer of   |
/// |           | two bytes; of two groups four unused bytes after each                       |
template <size_t groups_, BlockFormat::NumberType type_, ZeroKind zero_> struct WideBlock {
  static constexpr size_t groupSize = 128, groups = groups_, size = groups * groupSize;
  static constexpr BlockFormat::NumberType type = type_;
  static constexpr ZeroKind zero = zero_;
  static constexpr size_t padding = groups == 2 ? 4 : 0;
  static constexpr size_t headBytes = (zero == ZeroKind::Middle ? 2 : 4) + padding;
  using Quants = BitPlane<4, 16, size>;

  Quants quants;
  uint8_t heads[groups][headBytes];
};

template <typename Block> void encodeWide(const float* values, Block& block) {
  uint8_t quants[Block::size];
  for (size_t group = 0; group < Block::groups; ++group) {
    size_t first = group * Block::groupSize;
    float scale = 0;
    if constexpr (Block::zero == ZeroKind::Middle) {
      scale = quantizeAboutZero<8, Block::groupSize>(values + first, quants + first);
    } else {
      ScaleAndZero both =
          quantizeAboutStoredZero<15, Block::groupSize>(values + first, quants + first);
      scale = both.scale;
      storeHalf(block.heads[group] + 2, both.zero);
    }
    storeHalf(block.heads[group], roundTo<Block::type>(scale));
    std::fill_n(block.heads[group] + Block::headBytes - Block::padding, Block::padding, uint8_t{0});
  }
  block.quants.pack(quants);
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  return name << "int4_g128x" << Block::groups << suffixOf(Block::type) << suffixOf(Block::zero);
}

template <typename Block> constexpr BlockFormat describe(std::string_view name) {
  constexpr auto headsAt = static_cast<uint32_t>(sizeof(Block::quants));
  BlockFormat format = {.encoding = name,
                        .ggufFileType = {},
                        .scale = {headsAt, randomScaleOf(4), Block::type},
                        .planes = {Block::Quants::at(0)},
                        .zero = 8,
                        .groupSize = Block::groupSize,
                        .groupStride = Block::headBytes,
                        .groupPadding = Block::padding};
  static_assert(sizeof(Block) % 16 == 0);
  if (Block::zero == ZeroKind::Stored)
    format.zeroOffset = headsAt + 2;
  return format;
}

template <typename Block> constexpr FamilyName wideName = nameOf<Block>();
template <typename Block>
constexpr BlockFormat wideFormat = describe<Block>(wideName<Block>.view());
template <typename Block>
constexpr Encoding wideEncoding = {
    .name = wideName<Block>.view(),
    .blockSize = Block::size,
    .blockBytes = sizeof(Block),
    .ggufType = -1,
    .decode = decodePlanes<Block, wideFormat<Block>>,
    .encode = encodeBlocks<double, Block, encodeWide<Block>>,
    .encodeF32 = encodeBlocks<float, Block, encodeWide<Block>>,
};

using Type = BlockFormat::NumberType;
template <size_t groups, Type type> using WithZero = WideBlock<groups, type, ZeroKind::Stored>;
template <Type type> using Symmetric = WideBlock<8, type, ZeroKind::Middle>;
constexpr const Encoding* encodings[] = {
    &wideEncoding<Symmetric<Type::F16>>,   &wideEncoding<Symmetric<Type::Bf16>>,
    &wideEncoding<WithZero<8, Type::F16>>, &wideEncoding<WithZero<8, Type::Bf16>>,
    &wideEncoding<WithZero<4, Type::F16>>, &wideEncoding<WithZero<4, Type::Bf16>>,
    &wideEncoding<WithZero<2, Type::F16>>, &wideEncoding<WithZero<2, Type::Bf16>>};
constexpr const BlockFormat* formats[] = {
    &wideFormat<Symmetric<Type::F16>>,   &wideFormat<Symmetric<Type::Bf16>>,
    &wideFormat<WithZero<8, Type::F16>>, &wideFormat<WithZero<8, Type::Bf16>>,
    &wideFormat<WithZero<4, Type::F16>>, &wideFormat<WithZero<4, Type::Bf16>>,
    &wideFormat<WithZero<2, Type::F16>>, &wideFormat<WithZero<2, Type::Bf16>>};

} // namespace

extern const EncodingFamily wideIntegers;
constinit const EncodingFamily wideIntegers = {encodings, formats};

} // namespace tenon::encodings
