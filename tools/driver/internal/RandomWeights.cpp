#include "tools/driver/internal/RandomWeights.h"

#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

#include "support/Hash.h"

namespace tenon::tools {

static constexpr size_t quantiles = 1 << 16;

/// SplitMix64's increment and output function.
static constexpr uint64_t goldenGamma = 0x9E3779B97F4A7C15;
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits ^ (bits >> 31);
}

/// The normal distribution's quantiles at (i + 1/2) / 65536, ascending. Newton's method on the
/// distribution function, from the neighbour towards the centre; the other half by symmetry.
static std::array<float, quantiles> computeQuantiles() {
  std::array<float, quantiles> table;
  double x = 0;
  for (size_t i = quantiles / 2; i < quantiles; ++i) {
    double upperTail = (static_cast<double>(quantiles - i) - 0.5) / quantiles;
    for (int step = 0; step < 4; ++step) {
      double tail = 0.5 * std::erfc(x / std::numbers::sqrt2);
      double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      x += (tail - upperTail) / density;
    }
    table[i] = static_cast<float>(x);
    table[quantiles - 1 - i] = -table[i];
  }
  return table;
}

static const std::array<float, quantiles>& quantileTable() {
  static const std::array<float, quantiles> table = computeQuantiles();
  return table;
}

GaussianSequence::GaussianSequence(uint64_t seed, std::string_view name, float mean,
                                   float deviation)
    : key(mix(hashBytes(std::as_bytes(std::span(name))) + goldenGamma * (seed + 1))), mean(mean),
      deviation(deviation) {}

void GaussianSequence::fill(uint64_t first, std::span<float> values) const {
  assert(first % 4 == 0);
  const std::array<float, quantiles>& table = quantileTable();
  for (size_t i = 0; i < values.size(); i += 4) {
    uint64_t bits = mix(key + goldenGamma * ((first + i) / 4 + 1));
    for (size_t j = 0; j < 4 && i + j < values.size(); ++j)
      values[i + j] = mean + deviation * table[bits >> 16 * j & 0xFFFF];
  }
}

} // namespace tenon::tools
