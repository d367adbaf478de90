#include "ir/encoding/CacheEncoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/Float8.h"

namespace tenon {

namespace {

using namespace encodings;

/// A head of a small cache, as `CacheEncoding.h` has it. Weights have no such blocks, so that there
/// is no `BlockFormat` of them.
template <CacheQuants kind_, size_t size_> struct HeadBlock {
  static constexpr CacheQuants kind = kind_;
  static constexpr size_t size = size_;
  static constexpr size_t inByte = kind == CacheQuants::Int4 ? 2 : 1;

  uint8_t scale[4];
  uint8_t quants[size / inByte];
};

/// The number that quant `i` of a head says.
template <typename Block> float numberOf(const Block& block, size_t i) {
  const uint8_t byte = block.quants[i / Block::inByte];
  if constexpr (Block::kind == CacheQuants::Int8)
    return static_cast<int8_t>(byte);
  else if constexpr (Block::kind == CacheQuants::E4M3)
    return e4m3ToF32(byte);
  else
    return static_cast<float>(byte >> i % 2 * 4 & 15) - 8;
}

template <typename Block> void decodeHead(const Block& block, double* values) {
  uint32_t bits =
      static_cast<uint32_t>(block.scale[2]) << 16 | static_cast<uint32_t>(block.scale[3]) << 24;
  double scale = std::bit_cast<float>(bits);
  for (size_t i = 0; i < Block::size; ++i)
    values[i] = scale * numberOf(block, i);
}

/// The nearest integer within `least` and `most`, ties to even; `least` for NaN.
inline int roundWithin(float value, float least, float most) {
  constexpr float shift = 0x1.8p23f; // a sum with it has no digits after the point
  float held = value > least ? value : least;
  held = held < most ? held : most;
  return static_cast<int>((held + shift) - shift);
}

/// The scale, not yet rounded, of a head whose elements are `least` to `most`, 0 among them.
template <CacheQuants kind> float scaleOf(float least, float most) {
  if constexpr (kind == CacheQuants::Int4)
    return (most > -least ? most : least) / -8;
  else
    return (most > -least ? most : -least) / (kind == CacheQuants::Int8 ? 127 : 448);
}

template <CacheQuants kind> uint8_t quantOf(float value) {
  if constexpr (kind == CacheQuants::Int8)
    return static_cast<uint8_t>(roundWithin(value, -127, 127));
  else if constexpr (kind == CacheQuants::E4M3)
    return f32ToE4M3(value);
  else
    return static_cast<uint8_t>(roundWithin(value, -8, 7) + 8);
}

template <typename Block> void encodeHead(const float* values, Block& block) {
  float least = 0, most = 0;
  for (size_t i = 0; i < Block::size; ++i) {
    least = values[i] < least ? values[i] : least;
    most = values[i] > most ? values[i] : most;
  }
  uint16_t bits = f32ToBf16(scaleOf<Block::kind>(least, most));
  float scale = bf16ToF32(bits);
  bool isUsable = std::fabs(scale) >= 0x1p-100f && std::fabs(scale) <= 0x1.fep127f;
  bits = isUsable ? bits : 0;
  float inverse = isUsable ? 1.0f / scale : 0.0f;
  block.scale[0] = block.scale[1] = 0;
  block.scale[2] = static_cast<uint8_t>(bits);
  block.scale[3] = static_cast<uint8_t>(bits >> 8);
  for (size_t i = 0; i < Block::size; i += Block::inByte) {
    uint8_t byte = 0;
    for (size_t j = 0; j < Block::inByte; ++j)
      byte |= static_cast<uint8_t>(quantOf<Block::kind>(values[i + j] * inverse) << 4 * j);
    block.quants[i / Block::inByte] = byte;
  }
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  return name << (Block::kind == CacheQuants::Int8   ? "int8_h"
                  : Block::kind == CacheQuants::E4M3 ? "e4m3_h"
                                                     : "int4_h")
              << Block::size;
}

template <typename Block> constexpr FamilyName headName = nameOf<Block>();
template <typename Block>
constexpr Encoding headEncoding = {
    .name = headName<Block>.view(),
    .blockSize = Block::size,
    .blockBytes = sizeof(Block),
    .ggufType = -1,
    .decode = decodeBlocks<Block, decodeHead<Block>>,
    .encode = encodeBlocks<double, Block, encodeHead<Block>>,
    .encodeF32 = encodeBlocks<float, Block, encodeHead<Block>>,
};

constexpr int64_t step = 8, sizes = 32;

template <size_t... i>
constexpr std::array<const Encoding*, 3 * sizes> listEncodings(std::index_sequence<i...>) {
  return {&headEncoding<HeadBlock<CacheQuants::Int8, step*(i + 1)>>...,
          &headEncoding<HeadBlock<CacheQuants::E4M3, step*(i + 1)>>...,
          &headEncoding<HeadBlock<CacheQuants::Int4, step*(i + 1)>>...};
}
constexpr auto all = listEncodings(std::make_index_sequence<sizes>());

} // namespace

const Encoding* findCacheEncoding(CacheQuants quants, int64_t size) {
  if (size < 1 || size % step != 0 || size > step * sizes)
    return nullptr;
  return all[static_cast<int64_t>(quants) * sizes + size / step - 1];
}

std::optional<CacheQuants> cacheQuantsOf(const Encoding& encoding) {
  for (CacheQuants quants : {CacheQuants::Int8, CacheQuants::E4M3, CacheQuants::Int4})
    if (findCacheEncoding(quants, encoding.blockSize) == &encoding)
      return quants;
  return std::nullopt;
}

const Encoding* findCacheEncoding(std::string_view name) {
  const auto* found = std::ranges::find(all, name, &Encoding::name);
  return found == all.end() ? nullptr : *found;
}

} // namespace tenon
