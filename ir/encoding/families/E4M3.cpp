#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/Float8.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

namespace {

/// FP8 weights with a scale in binary32 for each 32, 64 or 128 values of a row: `e4m3_g128_f32` is
/// scale · number. A scale of a tensor, a row or a block of 128 × 128 is repeated for each.
///
/// | bytes | holds                                         |
/// |-------|-----------------------------------------------|
/// | 0-3   | scale, binary32                               |
/// | then  | numbers of 8 bits, as `internal/Float8.h` says |
template <size_t size_> struct E4M3Block {
  static constexpr size_t size = size_;
  using Quants = BitPlane<8, 32, size>;

  uint8_t scale[4];
  Quants quants;
};

/// The largest magnitude becomes 448; the scale has the upper 16 bits of a binary32, so that its
/// products with numbers are exact there.
template <typename Block> void encodeE4M3(const float* values, Block& block) {
  float largest = 0;
  for (size_t i = 0; i < Block::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  uint16_t bits = f32ToBf16(largest / 448);
  float scale = bf16ToF32(bits);
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  block.scale[0] = block.scale[1] = 0;
  block.scale[2] = static_cast<uint8_t>(bits);
  block.scale[3] = static_cast<uint8_t>(bits >> 8);
  uint8_t numbers[Block::size];
  for (size_t i = 0; i < Block::size; ++i)
    numbers[i] = f32ToE4M3(values[i] * inverse);
  block.quants.pack(numbers);
}

template <typename Block> constexpr FamilyName nameOf() {
  FamilyName name;
  return name << "e4m3_g" << Block::size << "_f32";
}

template <typename Block> constexpr FamilyName e4m3Name = nameOf<Block>();
template <typename Block>
constexpr BlockFormat e4m3Format = {
    .encoding = e4m3Name<Block>.view(),
    .ggufFileType = {},
    .scale = {0, 0.00533f, BlockFormat::NumberType::F32},
    .planes = {Block::Quants::at(sizeof(Block::scale))},
    .kind = BlockFormat::QuantKind::E4M3,
};
template <typename Block>
constexpr Encoding e4m3Encoding = {
    .name = e4m3Name<Block>.view(),
    .blockSize = Block::size,
    .blockBytes = sizeof(Block),
    .ggufType = -1,
    .decode = decodePlanes<Block, e4m3Format<Block>>,
    .encode = encodeBlocks<double, Block, encodeE4M3<Block>>,
    .encodeF32 = encodeBlocks<float, Block, encodeE4M3<Block>>,
};

constexpr const Encoding* encodings[] = {&e4m3Encoding<E4M3Block<32>>, &e4m3Encoding<E4M3Block<64>>,
                                         &e4m3Encoding<E4M3Block<128>>};
constexpr const BlockFormat* formats[] = {&e4m3Format<E4M3Block<32>>, &e4m3Format<E4M3Block<64>>,
                                          &e4m3Format<E4M3Block<128>>};

} // namespace

extern const EncodingFamily e4M3;
constinit const EncodingFamily e4M3 = {encodings, formats};

} // namespace tenon::encodings
