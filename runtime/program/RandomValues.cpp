#include "runtime/program/RandomValues.h"

#include <algorithm>
#include <bit>
#include <cassert>
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

/// The bits of `value` as a number of that type; of a power of two its exponent, at least 1.
static uint32_t bitsOfNumber(BlockFormat::NumberType type, float value) {
  switch (type) {
  case BlockFormat::NumberType::F16:
    return toF16(value);
  case BlockFormat::NumberType::Bf16:
    return toBf16(value);
  case BlockFormat::NumberType::F32:
    break;
  case BlockFormat::NumberType::E8M0:
    // To the nearest, in steps of a factor of two.
    return static_cast<uint32_t>(
        std::clamp(std::nearbyint(std::log2(std::fabs(value))) + 127.0f, 1.0f, 254.0f));
  case BlockFormat::NumberType::UE4M3: {
    // At least the least above 0.
    uint32_t bits = std::bit_cast<uint32_t>(std::clamp(std::fabs(value), 0x1p-9f, 448.0f));
    uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) * 0x1p-120f);
    return (scaled + 0x7FFFF + (scaled >> 20 & 1)) >> 20;
  }
  }
  return std::bit_cast<uint32_t>(value);
}

namespace {

/// Collects the words of numbers of blocks.
class BlockMaker {
public:
  BlockMaker(const BlockFormat& format, const Encoding& encoding, RandomBlock& block)
      : format(format), encoding(encoding), block(block) {}

  /// `bits` of `bytes` bytes at `offset`, once a block or once a group of it.
  void add(uint32_t offset, uint32_t bytes, uint32_t bits, bool isOfGroups) {
    uint32_t groups = isOfGroups && format.groupSize != 0
                          ? static_cast<uint32_t>(encoding.blockSize) / format.groupSize
                          : 1;
    if (bytes == 1)
      return addBytes(offset, groups, bits);
    uint32_t stride = groups == 1 ? 2 : format.groupStride;
    for (uint32_t word = 0; word < bytes / 2; ++word)
      addRun({offset + 2 * word, stride, groups, static_cast<uint16_t>(bits >> 16 * word), 0xFFFF});
  }
  /// Of the bytes at `offset`, one an element: none is 0x7F or 0xFF, which files cannot have.
  void clearLastBits(uint32_t offset) {
    addRun({offset, 2, static_cast<uint32_t>(encoding.blockSize) / 2, 0, 0x0101});
  }

private:
  /// Neighbouring bytes of all blocks.
  void addBytes(uint32_t offset, uint32_t count, uint32_t bits) {
    for (uint32_t first = offset; first < block.bytes;
         first += static_cast<uint32_t>(encoding.blockBytes)) {
      uint32_t end = first + count, firstWhole = first + first % 2, endWhole = end - end % 2;
      auto both = static_cast<uint16_t>(bits | bits << 8);
      if (first != firstWhole)
        addRun({first - 1, 2, 1, both, 0xFF00});
      if (firstWhole < endWhole)
        addRun({firstWhole, 2, (endWhole - firstWhole) / 2, both, 0xFFFF});
      if (endWhole != end && endWhole >= first)
        addRun({endWhole, 2, 1, both, 0x00FF});
    }
  }
  void addRun(const RandomBlock::Run& run) {
    assert(block.count < RandomBlock::mostRuns);
    block.runs[block.count++] = run;
  }

  const BlockFormat& format;
  const Encoding& encoding;
  RandomBlock& block;
};

} // namespace

std::optional<RandomBlock> findRandomBlock(std::string_view encodingName,
                                           const RandomRange& range) {
  const BlockFormat* format = findBlockFormat(encodingName);
  if (!format)
    return std::nullopt;
  const Encoding& encoding = *findEncoding(encodingName);
  auto bytes = static_cast<uint32_t>(encoding.blockBytes);
  RandomBlock block = {bytes % 2 == 0 ? bytes : 2 * bytes, {}, 0};
  BlockMaker maker(*format, encoding, block);
  auto add = [&](const BlockFormat::Number& number, float value, bool isOfGroups) {
    maker.add(number.offset, number.bytes(), bitsOfNumber(number.type, value), isOfGroups);
  };
  float scale = format->scale.randomFactor * range.scale;
  if (format->blockScale) {
    add(*format->blockScale, format->blockScale->randomFactor * range.scale, false);
    scale = format->scale.randomFactor;
  }
  add(format->scale, scale, true);
  if (format->hasMinimum())
    add(format->minimum, format->minimum.randomFactor * range.scale, true);
  if (format->kind == BlockFormat::QuantKind::E4M3)
    maker.clearLastBits(format->planes[0].offset);
  if (format->zeroOffset)
    maker.add(*format->zeroOffset, 2, static_cast<uint32_t>(format->zero), true);
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

/// Word `place` of a block, of which `bits` are random.
static uint16_t wordOfBlock(const RandomBlock& block, uint32_t place, uint16_t bits) {
  for (const RandomBlock::Run& run : std::span(block.runs, block.count)) {
    uint32_t distance = place - run.offset;
    if (place >= run.offset && distance % run.stride == 0 && distance / run.stride < run.count)
      bits = static_cast<uint16_t>((bits & ~run.mask) | (run.bits & run.mask));
  }
  return bits;
}

static void fillBlocks(const RandomRange& range, const RandomBlock& block,
                       std::span<std::byte> out) {
  for (uint64_t i = 0; 2 * i < out.size(); ++i) {
    auto place = static_cast<uint32_t>(2 * i % block.bytes);
    uint16_t bits = wordOfBlock(block, place, static_cast<uint16_t>(hashAt(range, i) >> 48));
    std::memcpy(out.data() + 2 * i, &bits, std::min<size_t>(sizeof(bits), out.size() - 2 * i));
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
