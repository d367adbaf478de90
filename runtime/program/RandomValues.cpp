#include "runtime/program/RandomValues.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tenon::runtime {

uint64_t randomElementBytes(std::string_view encoding) {
  if (encoding == "f32")
    return 4;
  return encoding == "f16" || encoding == "bf16" ? 2 : 0;
}

static float randomValue(const RandomRange& range, uint64_t index) {
  uint64_t h = range.seed + (index + 1) * 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  h ^= h >> 31;
  auto step = static_cast<int32_t>(h >> 40) - (1 << 23);
  float product = static_cast<float>(step) * 0x1p-23f * range.scale;
  return product + range.mean;
}

/// To the nearest bf16, ties to even; `value` is finite or infinite.
static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void fillRandomValues(const RandomRange& range, std::string_view encoding,
                      std::span<std::byte> out) {
  uint64_t elementBytes = randomElementBytes(encoding);
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
