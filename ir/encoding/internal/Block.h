#ifndef TENON_IR_ENCODING_INTERNAL_BLOCK_H
#define TENON_IR_ENCODING_INTERNAL_BLOCK_H

#include <array>
#include <cassert>

#include "ir/encoding/Encoding.h"

namespace tenon::encodings {

/// `Encoding::decode` of a block format. `Block` is the block's layout in memory, unaligned bytes
/// with a member `static constexpr size_t size` for its elements; `decodeBlock` decodes one.
template <typename Block, void (*decodeBlock)(const Block&, double*)>
void decodeBlocks(std::span<const std::byte> encoded, std::span<double> values) {
  static_assert(alignof(Block) == 1);
  assert(values.size() % Block::size == 0);
  assert(encoded.size() == values.size() / Block::size * sizeof(Block));
  const auto* blocks = reinterpret_cast<const Block*>(encoded.data());
  for (size_t i = 0; i < values.size() / Block::size; ++i)
    decodeBlock(blocks[i], values.data() + i * Block::size);
}

/// `Encoding::encode` (from double) or `encodeF32` (from float) of a block format; `encodeBlock`
/// encodes one block of `Block::size` values.
template <typename Value, typename Block, void (*encodeBlock)(const float*, Block&)>
void encodeBlocks(std::span<const Value> values, std::span<std::byte> encoded) {
  static_assert(alignof(Block) == 1);
  assert(values.size() % Block::size == 0);
  assert(encoded.size() == values.size() / Block::size * sizeof(Block));
  auto* blocks = reinterpret_cast<Block*>(encoded.data());
  for (size_t i = 0; i < values.size() / Block::size; ++i) {
    std::array<float, Block::size> rounded;
    for (size_t j = 0; j < Block::size; ++j)
      rounded[j] = static_cast<float>(values[i * Block::size + j]);
    encodeBlock(rounded.data(), blocks[i]);
  }
}

/// The binary16 number stored in two bytes, little-endian, of a block.
struct BlockScale {
  uint8_t low;
  uint8_t high;

  uint16_t bits() const { return static_cast<uint16_t>(low | high << 8); }
  void setBits(uint16_t bits) {
    low = static_cast<uint8_t>(bits);
    high = static_cast<uint8_t>(bits >> 8);
  }
};

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_BLOCK_H
