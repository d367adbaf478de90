#include "runtime/program/RandomValues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Encoding.h"

namespace tenon::runtime {

/// To the nearest bf16, ties to even; `value` is finite or infinite.
static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static uint16_t toF16(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

/// Adds the words of a number of the block.
static void addNumber(RandomBlock& block, const BlockFormat::Number& number,
                      const RandomRange& range) {
  float value = number.randomFactor * range.scale;
  auto add = [&](uint32_t offset, uint32_t bits) {
    block.words[block.count++] = {offset, static_cast<uint16_t>(bits)};
  };
  switch (number.type) {
  case BlockFormat::NumberType::F16:
    return add(number.offset, toF16(value));
  case BlockFormat::NumberType::Bf16:
    return add(number.offset, toBf16(value));
  case BlockFormat::NumberType::F32:
    add(number.offset, std::bit_cast<uint32_t>(value));
    add(number.offset + 2, std::bit_cast<uint32_t>(value) >> 16);
  }
}

std::optional<RandomBlock> findRandomBlock(std::string_view encoding, const RandomRange& range) {
  const BlockFormat* format = findBlockFormat(encoding);
  if (!format)
    return std::nullopt;
  RandomBlock block = {static_cast<uint32_t>(findEncoding(encoding)->blockBytes), {}, 0};
  addNumber(block, format->scale, range);
  if (format->hasMinimum())
    addNumber(block, format->minimum, range);
  if (format->zeroOffset)
    block.words[block.count++] = {*format->zeroOffset, static_cast<uint16_t>(format->zero)};
  return block;
}

uint64_t randomUnitBytes(std::string_view encoding) {
  if (findBlockFormat(encoding))
    return static_cast<uint64_t>(findEncoding(encoding)->blockBytes);
  if (encoding == "f32")
    return 4;
  return encoding == "f16" || encoding == "bf16" ? 2 : 0;
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

static void fillBlocks(const RandomRange& range, const RandomBlock& block,
                       std::span<std::byte> out) {
  for (uint64_t i = 0; i < out.size() / 2; ++i) {
    auto bits = static_cast<uint16_t>(hashAt(range, i) >> 48);
    for (const RandomBlock::Word& word : std::span(block.words, block.count))
      if (2 * i % block.bytes == word.offset)
        bits = word.bits;
    std::memcpy(out.data() + 2 * i, &bits, sizeof(bits));
  }
}

void fillRandomValues(const RandomRange& range, std::string_view encoding,
                      std::span<std::byte> out) {
  if (std::optional<RandomBlock> block = findRandomBlock(encoding, range))
    return fillBlocks(range, *block, out);
  uint64_t elementBytes = randomUnitBytes(encoding);
  for (uint64_t i = 0; i < out.size() / elementBytes; ++i) {
    float value = randomValue(range, i);
    std::byte* place = out.data() + i * elementBytes;
    if (encoding == "f32") {
      std::memcpy(place, &value, sizeof(value));
    } else {
      uint16_t bits = encoding == "bf16" ? toBf16(value) : toF16(value);
      std::memcpy(place, &bits, sizeof(bits));
    }
  }
}

} // namespace tenon::runtime
