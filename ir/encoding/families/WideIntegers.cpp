#include <cstddef>

#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/GroupIntegers.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

namespace {

/// Eight groups of 128 integers of 4 bits that lie together, the quants of all before their scales:
/// `int4_g128x8_f16` and `int4_g128x8_f16_zero` hold what eight blocks of `int4_g128_f16` and
/// `int4_g128_f16_zero` do. A block is a multiple of 16 bytes, so that a thread takes 16 aligned
/// bytes of quants at a time; checkpoints are repacked into it where rows are multiples of 1,024
/// (`ir/containers`).
///
/// | bytes   | holds                                                                          |
/// |---------|--------------------------------------------------------------------------------|
/// | 0-511   | quants: 16 bytes for each 32, byte j of them with j and j + 16                 |
/// | 512-527 | scales of the groups; with zeros up to 543: of each a scale, then an unsigned   |
/// |         | integer                                                                        |
template <BlockFormat::NumberType type_, ZeroKind zero_> struct WideBlock {
  static constexpr size_t groupSize = 128, groups = 8, size = groups * groupSize;
  static constexpr BlockFormat::NumberType type = type_;
  static constexpr ZeroKind zero = zero_;
  static constexpr size_t headBytes = zero == ZeroKind::Middle ? 2 : 4;
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
  }
  block.quants.pack(quants);
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  return name << "int4_g128x8" << suffixOf(Block::type) << suffixOf(Block::zero);
}

template <typename Block> constexpr BlockFormat describe(std::string_view name) {
  constexpr auto headsAt = static_cast<uint32_t>(sizeof(Block::quants));
  BlockFormat format = {.encoding = name,
                        .ggufFileType = {},
                        .scale = {headsAt, randomScaleOf(4), Block::type},
                        .planes = {Block::Quants::at(0)},
                        .zero = 8,
                        .groupSize = Block::groupSize,
                        .groupStride = Block::headBytes};
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

using F16 = WideBlock<BlockFormat::NumberType::F16, ZeroKind::Middle>;
using F16Zero = WideBlock<BlockFormat::NumberType::F16, ZeroKind::Stored>;
using Bf16 = WideBlock<BlockFormat::NumberType::Bf16, ZeroKind::Middle>;
using Bf16Zero = WideBlock<BlockFormat::NumberType::Bf16, ZeroKind::Stored>;
constexpr const Encoding* encodings[] = {&wideEncoding<F16>, &wideEncoding<F16Zero>,
                                         &wideEncoding<Bf16>, &wideEncoding<Bf16Zero>};
constexpr const BlockFormat* formats[] = {&wideFormat<F16>, &wideFormat<F16Zero>, &wideFormat<Bf16>,
                                          &wideFormat<Bf16Zero>};

} // namespace

extern const EncodingFamily wideIntegers;
constinit const EncodingFamily wideIntegers = {encodings, formats};

} // namespace tenon::encodings
