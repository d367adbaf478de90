#include "ir/encoding/Float16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tenon {
namespace {

/// The value of a binary16 or bfloat16 number by the definition, for finite numbers.
double valueOf(uint16_t bits, int mantissaBits, int bias) {
  int exponent = (bits & 0x7FFF) >> mantissaBits;
  int mantissa = bits & ((1 << mantissaBits) - 1);
  double significand = exponent == 0 ? mantissa : mantissa + static_cast<double>(1 << mantissaBits);
  double value = std::ldexp(significand, std::max(exponent, 1) - bias - mantissaBits);
  return bits & 0x8000 ? -value : value;
}

struct Format {
  const char* name;
  int mantissaBits;
  int bias;
  uint16_t infinity;
  float (*toF32)(uint16_t);
  uint16_t (*fromF32)(float);
  uint16_t (*fromF64)(double);
};

class Float16 : public ::testing::TestWithParam<Format> {};

TEST_P(Float16, DecodesEveryNumber) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    float decoded = format.toF32(static_cast<uint16_t>(bits));
    uint32_t magnitude = bits & 0x7FFF;
    ASSERT_EQ(std::signbit(decoded), bits > 0x7FFF) << bits;
    if (magnitude > format.infinity)
      ASSERT_TRUE(std::isnan(decoded)) << bits;
    else if (magnitude == format.infinity)
      ASSERT_TRUE(std::isinf(decoded)) << bits;
    else
      ASSERT_EQ(decoded, valueOf(static_cast<uint16_t>(bits), format.mantissaBits, format.bias));
  }
}

TEST_P(Float16, EncodesEveryNumberToItself) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    if ((bits & 0x7FFF) > format.infinity)
      continue;
    float value = format.toF32(static_cast<uint16_t>(bits));
    ASSERT_EQ(format.fromF32(value), bits);
    ASSERT_EQ(format.fromF64(value), bits);
  }
}

// Rounding is monotone, so the values about the midpoint of each two neighbours decide all.
TEST_P(Float16, RoundsToNearestEvenAtEveryMidpoint) {
  const Format& format = GetParam();
  for (uint32_t bits = 0; bits < format.infinity; ++bits) {
    uint32_t even = bits + (bits & 1);
    double low = valueOf(static_cast<uint16_t>(bits), format.mantissaBits, format.bias);
    double unit = bits + 1 == format.infinity ? low - format.toF32(static_cast<uint16_t>(bits - 1))
                                              : format.toF32(static_cast<uint16_t>(bits + 1)) - low;
    double midpoint = low + unit / 2;
    for (uint32_t sign : {0u, 0x8000u}) {
      double signedMidpoint = sign ? -midpoint : midpoint;
      ASSERT_EQ(format.fromF64(signedMidpoint), sign | even) << midpoint;
      ASSERT_EQ(format.fromF64(std::nextafter(signedMidpoint, 0.0)), sign | bits) << midpoint;
      ASSERT_EQ(format.fromF64(signedMidpoint * (1 + 0x1p-52)), sign | (bits + 1)) << midpoint;
      auto narrow = static_cast<float>(signedMidpoint);
      if (narrow != signedMidpoint)
        continue; // bfloat16's smallest midpoint lies below f32's subnormals
      ASSERT_EQ(format.fromF32(narrow), sign | even) << midpoint;
      ASSERT_EQ(format.fromF32(std::nextafter(narrow, 0.0f)), sign | bits) << midpoint;
      float away = std::nextafter(narrow, narrow * std::numeric_limits<float>::infinity());
      ASSERT_EQ(format.fromF32(away), sign | (bits + 1)) << midpoint;
    }
  }
}

TEST_P(Float16, KeepsInfinitiesAndNans) {
  const Format& format = GetParam();
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format.fromF64(infinity), format.infinity);
  EXPECT_EQ(format.fromF64(-infinity), 0x8000 | format.infinity);
  EXPECT_EQ(format.fromF64(1e300), format.infinity);
  EXPECT_EQ(format.fromF64(-1e300), 0x8000 | format.infinity);
  EXPECT_EQ(format.fromF64(5e-324), 0);
  EXPECT_EQ(format.fromF64(-5e-324), 0x8000);
  // The smallest payload must not be cut to an infinity.
  for (uint32_t nan : {0x7F800001u, 0xFF800001u, 0x7FC00000u, 0x7FFFFFFFu}) {
    uint16_t encoded = format.fromF32(std::bit_cast<float>(nan));
    EXPECT_GT(encoded & 0x7FFF, format.infinity);
    EXPECT_EQ(encoded >> 15, static_cast<int>(nan >> 31));
  }
  EXPECT_GT(format.fromF64(std::nan("")) & 0x7FFF, format.infinity);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Float16,
    ::testing::Values(Format{"f16", 10, 15, 0x7C00, f16ToF32, f32ToF16, f64ToF16},
                      Format{"bf16", 7, 127, 0x7F80, bf16ToF32, f32ToBf16, f64ToBf16}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon
