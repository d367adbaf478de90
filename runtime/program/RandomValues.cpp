#include "runtime/program/RandomValues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Encoding.h"

namespace tenon::runtime {

std::optional<RandomBlock> findRandomBlock(std::string_view encoding) {
  const BlockFormat* format = findBlockFormat(encoding);
  if (!format)
    return std::nullopt;
  auto number = [](const BlockFormat::Number& stored) {
    return RandomBlock::Number{stored.offset, stored.randomFactor};
  };
  return RandomBlock{.bytes = static_cast<uint32_t>(findEncoding(encoding)->blockBytes),
                     .numbers = {number(format->scale), number(format->minimum)},
                     .count = format->hasMinimum() ? 2u : 1u};
}

uint64_t randomUnitBytes(std::string_view encoding) {
  if (std::optional<RandomBlock> block = findRandomBlock(encoding))
    return block->bytes;
  if (encoding == "f32")
    return 4;
  return encoding == "f16" || encoding == "bf16" ? 2 : 0;
}

uint16_t randomBlockNumber(const RandomBlock::Number& number, const RandomRange& range) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(number.factor * range.scale));
}

static uint64_t hashAt(const RandomRange& range, uint64_t index) {
  uint64_t h = range.seed + (index + 1) * 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

static float randomValue(const RandomRange& range, uint64_t index) {
  auto step = static_cast<int32_t>(hashAt(range, index) >> 40) - (1 << 23);
  float product = static_cast<float>(step) * 0x1p-23f * range.scale;
  return product + range.mean;
}

/// To the nearest bf16, ties to even; `value` is finite or infinite.
static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static void fillBlocks(const RandomRange& range, const RandomBlock& block,
                       std::span<std::byte> out) {
  for (uint64_t i = 0; i < out.size() / 2; ++i) {
    auto bits = static_cast<uint16_t>(hashAt(range, i) >> 48);
    for (const RandomBlock::Number& number : std::span(block.numbers, block.count))
      if (2 * i % block.bytes == number.offset)
        bits = randomBlockNumber(number, range);
    std::memcpy(out.data() + 2 * i, &bits, sizeof(bits));
  }
}

void fillRandomValues(const RandomRange& range, std::string_view encoding,
                      std::span<std::byte> out) {
  if (std::optional<RandomBlock> block = findRandomBlock(encoding))
    return fillBlocks(range, *block, out);
  uint64_t elementBytes = randomUnitBytes(encoding);
  for (uint64_t i = 0; i < out.size() / elementBytes; ++i) {
    float value = randomValue(range, i);
    std::byte* place = out.data() + i * elementBytes;
    if (encoding == "f32") {
      std::memcpy(place, &value, sizeof(value));
    } else {
      uint16_t bits = encoding == "bf16" ? toBf16(value)
                                         : std::bit_cast<uint16_t>(static_cast<_Float16>(value));
      std::memcpy(place, &bits, sizeof(bits));
    }
  }
}

} // namespace tenon::runtime
