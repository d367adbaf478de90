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
  static constexpr float most = kind == CacheQuants::Int8 ? 127 : 448;

  uint8_t scale[4];
  uint8_t quants[size];
};

template <typename Block> void decodeHead(const Block& block, double* values) {
  uint32_t bits =
      static_cast<uint32_t>(block.scale[2]) << 16 | static_cast<uint32_t>(block.scale[3]) << 24;
  double scale = std::bit_cast<float>(bits);
  for (size_t i = 0; i < Block::size; ++i)
    values[i] = scale * (Block::kind == CacheQuants::Int8
                             ? static_cast<float>(static_cast<int8_t>(block.quants[i]))
                             : e4m3ToF32(block.quants[i]));
}

/// The nearest integer within ±127, ties to even; −127 for NaN.
inline uint8_t roundToInt8(float value) {
  constexpr float shift = 0x1.8p23f; // a sum with it has no digits after the point
  float held = value > -127.0f ? value : -127.0f;
  held = held < 127.0f ? held : 127.0f;
  return static_cast<uint8_t>(static_cast<int8_t>((held + shift) - shift));
}

template <typename Block> void encodeHead(const float* values, Block& block) {
  float largest = 0;
  for (size_t i = 0; i < Block::size; ++i)
    largest = std::fabs(values[i]) > largest ? std::fabs(values[i]) : largest;
  uint16_t bits = f32ToBf16(largest / Block::most);
  float scale = bf16ToF32(bits);
  bool isUsable = scale >= 0x1p-100f && scale <= 0x1.fep127f;
  bits = isUsable ? bits : 0;
  float inverse = isUsable ? 1.0f / scale : 0.0f;
  block.scale[0] = block.scale[1] = 0;
  block.scale[2] = static_cast<uint8_t>(bits);
  block.scale[3] = static_cast<uint8_t>(bits >> 8);
  for (size_t i = 0; i < Block::size; ++i)
    block.quants[i] = Block::kind == CacheQuants::Int8 ? roundToInt8(values[i] * inverse)
                                                       : f32ToE4M3(values[i] * inverse);
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  return name << (Block::kind == CacheQuants::Int8 ? "int8_h" : "e4m3_h") << Block::size;
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
constexpr std::array<const Encoding*, 2 * sizes> listEncodings(std::index_sequence<i...>) {
  return {&headEncoding<HeadBlock<CacheQuants::Int8, step*(i + 1)>>...,
          &headEncoding<HeadBlock<CacheQuants::E4M3, step*(i + 1)>>...};
}
constexpr auto all = listEncodings(std::make_index_sequence<sizes>());

} // namespace

const Encoding* findCacheEncoding(CacheQuants quants, int64_t size) {
  if (size < 1 || size % step != 0 || size > step * sizes)
    return nullptr;
  return all[(quants == CacheQuants::Int8 ? 0 : sizes) + size / step - 1];
}

std::optional<CacheQuants> cacheQuantsOf(const Encoding& encoding) {
  for (CacheQuants quants : {CacheQuants::Int8, CacheQuants::E4M3})
    if (findCacheEncoding(quants, encoding.blockSize) == &encoding)
      return quants;
  return std::nullopt;
}

const Encoding* findCacheEncoding(std::string_view name) {
  const auto* found = std::ranges::find(all, name, &Encoding::name);
  return found == all.end() ? nullptr : *found;
}

} // namespace tenon
