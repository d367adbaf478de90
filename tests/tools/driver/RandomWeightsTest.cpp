#include "tools/driver/internal/RandomWeights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::tools {
namespace {

std::vector<float> draw(uint64_t seed, std::string_view name, uint64_t first, size_t count) {
  std::vector<float> values(count);
  GaussianSequence(seed, name, 0.0f, 1.0f).fill(first, values);
  return values;
}

TEST(GaussianSequence, AnyPartIsThatPartOfTheWhole) {
  std::vector<float> whole = draw(1, "a", 0, 1000);
  for (uint64_t first : {0, 4, 512})
    for (size_t count : {1, 3, 4, 100}) {
      std::vector<float> part = draw(1, "a", first, count);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << first;
    }
}

TEST(GaussianSequence, SeedAndNameMatter) {
  EXPECT_NE(draw(1, "a", 0, 100), draw(2, "a", 0, 100));
  EXPECT_NE(draw(1, "a", 0, 100), draw(1, "b", 0, 100));
}

TEST(GaussianSequence, HasTheNormalDistribution) {
  constexpr size_t count = 1 << 20;
  std::vector<float> values = draw(3, "weights", 0, count);
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += values[i];
    squares += static_cast<double>(values[i]) * values[i];
    neighbours += static_cast<double>(values[i]) * values[(i + 1) % count];
  }
  // Five standard errors: 1, √2 and 1 over √count.
  double error = 5 / std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(sum / count, 0.0, error);
  EXPECT_NEAR(squares / count, 1.0, error * std::numbers::sqrt2);
  EXPECT_NEAR(neighbours / count, 0.0, error);
  // Kolmogorov and Smirnov's distance from the normal distribution; 1.95/√n at the level 0.001.
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (size_t i = 0; i < count; i += 64) {
    double expected = 0.5 * std::erfc(-values[i] / std::numbers::sqrt2);
    distance = std::max(distance, std::fabs(expected - static_cast<double>(i) / count));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(count)));
  EXPECT_LT(values.back(), 4.5f);
}

TEST(GaussianSequence, ShiftsAndScales) {
  std::vector<float> plain = draw(1, "a", 0, 8);
  std::vector<float> scaled(8);
  GaussianSequence(1, "a", 1.0f, 0.5f).fill(0, scaled);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(scaled[i], 1.0f + 0.5f * plain[i]);
}

} // namespace
} // namespace tenon::tools
