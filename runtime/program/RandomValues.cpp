#include "runtime/program/RandomValues.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tenon::runtime {

/// Factors are 1 / (√3 · the deviation of a value whose scale is 1 and whose bits are random), which
/// follows from the layouts in ir/encoding: q8_0 has quants of −128 to 127, deviation 73.9; q4_k has
/// scale · s · q − minimum · m, with s and m in 0 to 63 and q in 0 to 15, and minimum = 7.5 · scale, the
/// mean of q, puts the mean at 0, deviation 258.
static constexpr RandomBlock blocks[] = {
    {"q8_0", 34, {{0, 0.00781f}}, 1},
    {"q4_0", 18, {{0, 0.1252f}}, 1},
    {"q4_1", 20, {{0, 0.1252f}, {2, -0.9393f}}, 2},
    {"q5_0", 22, {{0, 0.06253f}}, 1},
    {"q5_1", 24, {{0, 0.06253f}, {2, -0.9693f}}, 2},
    {"iq4_nl", 18, {{0, 0.00858f}}, 1},
    {"q2_k", 84, {{80, 0.0416f}, {82, 0.0624f}}, 2},
    {"q3_k", 110, {{108, 0.01333f}}, 1},
    {"q4_k", 144, {{0, 0.002236f}, {2, 0.01677f}}, 2},
    {"q5_k", 176, {{0, 0.001096f}, {2, 0.01699f}}, 2},
    {"q6_k", 210, {{208, 0.000423f}}, 1},
};

const RandomBlock* findRandomBlock(std::string_view encoding) {
  auto found = std::ranges::find(blocks, encoding, &RandomBlock::encoding);
  return found == std::end(blocks) ? nullptr : found;
}

uint64_t randomUnitBytes(std::string_view encoding) {
  if (const RandomBlock* block = findRandomBlock(encoding))
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
  if (const RandomBlock* block = findRandomBlock(encoding))
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
