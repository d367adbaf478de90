#include "runtime/program/RandomValues.h"

#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Encoding.h"

namespace tenon::runtime {
namespace {

template <typename T> std::vector<T> fill(const RandomRange& range, std::string_view encoding) {
  std::vector<T> values(range.bytes / sizeof(T));
  fillRandomValues(range, encoding, std::as_writable_bytes(std::span(values)));
  return values;
}

/// The published test vector of SplitMix64 for this seed.
TEST(RandomValues, FollowSplitMix64) {
  auto values = fill<float>({12, 1234567, 0.0f, 0x1p23f}, "f32");
  const uint64_t hashes[] = {6457827717110365317ull, 3203168211198807973ull,
                             9817491932198370423ull};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(values[i], static_cast<float>(static_cast<int64_t>(hashes[i] >> 40) - (1 << 23)));
}

TEST(RandomValues, SpreadEvenlyAroundTheMean) {
  auto values = fill<float>({400'000, 1, 3.0f, 0.5f}, "f32");
  double sum = 0, squares = 0;
  for (float value : values) {
    EXPECT_GE(value, 2.5f);
    EXPECT_LE(value, 3.5f);
    sum += value;
    squares += (value - 3.0) * (value - 3.0);
  }
  EXPECT_NEAR(sum / 1e5, 3.0, 0.005);
  EXPECT_NEAR(squares / 1e5, 0.25 / 3, 0.001);
}

TEST(RandomValues, RoundOnceTo16Bits) {
  auto f32 = fill<float>({4'000, 9, 1.0f, 0.5f}, "f32");
  auto f16 = fill<uint16_t>({2'000, 9, 1.0f, 0.5f}, "f16");
  auto bf16 = fill<uint16_t>({2'000, 9, 1.0f, 0.5f}, "bf16");
  for (size_t i = 0; i < f16.size(); ++i) {
    // Below and above 1, an f16 has steps of 2^-11 and 2^-10, a bf16 of 2^-8 and 2^-7.
    float f16Steps = f32[i] < 1 ? 2048 : 1024, bf16Steps = f32[i] < 1 ? 256 : 128;
    EXPECT_EQ(static_cast<float>(std::bit_cast<_Float16>(f16[i])),
              std::nearbyint(f32[i] * f16Steps) / f16Steps);
    EXPECT_EQ(std::bit_cast<float>(uint32_t{bf16[i]} << 16),
              std::nearbyint(f32[i] * bf16Steps) / bf16Steps);
  }
}

TEST(RandomValues, KnowTheirEncodings) {
  EXPECT_EQ(randomUnitBytes("f32"), 4u);
  EXPECT_EQ(randomUnitBytes("f16"), 2u);
  EXPECT_EQ(randomUnitBytes("bf16"), 2u);
  EXPECT_EQ(randomUnitBytes("q8_0"), 34u);
  EXPECT_EQ(randomUnitBytes("i32"), 0u);
}

/// Whatever the format, the deviation is that of uniform values; a scale that is a power of two or
/// has three bits of mantissa is a step off.
TEST(RandomValues, HaveTheirDeviationInEveryBlockFormat) {
  const RandomRange whole{0, 11, 0.0f, 0.5f};
  for (const BlockFormat* format : allBlockFormats()) {
    const Encoding& encoding = *findEncoding(format->encoding);
    RandomRange range = whole;
    range.bytes = encoding.bytesFor(encoding.blockSize * 401); // of odd blocks an odd number
    std::vector<std::byte> bytes(range.bytes);
    fillRandomValues(range, encoding.name, bytes);
    std::vector<double> values(encoding.blockSize * 401);
    encoding.decode(bytes, values);
    double sum = 0, squares = 0;
    for (double value : values)
      sum += value, squares += value * value;
    double mean = sum / static_cast<double>(values.size());
    double deviation = std::sqrt(squares / static_cast<double>(values.size()) - mean * mean);
    bool isCoarse = format->scale.type == BlockFormat::NumberType::E8M0 ||
                    format->scale.type == BlockFormat::NumberType::UE4M3;
    EXPECT_NEAR(deviation * std::sqrt(3.0) / range.scale, 1, isCoarse ? 0.42 : 0.06)
        << encoding.name;
    EXPECT_NEAR(mean, 0, 0.3 * range.scale) << encoding.name; // half a quant of two bits
  }
}

/// A block of 17 bytes has its scale in either half of a word.
TEST(RandomValues, SetTheBytesOfOddBlocks) {
  RandomRange range{17 * 5, 3, 0.0f, 1.0f};
  std::vector<std::byte> bytes(range.bytes);
  fillRandomValues(range, "mxfp4", bytes);
  for (int block = 0; block < 5; ++block)
    EXPECT_EQ(bytes[17 * block], std::byte{125}) << block; // 2^-2 is the nearest to 0.1973
  EXPECT_NE(bytes[16], bytes[15]);
  EXPECT_EQ(randomUnitBytes("mxfp4"), 17u);
}

/// Of 8 bits E4M3 has two that are no numbers.
TEST(RandomValues, AreNumbersOfE4M3) {
  constexpr size_t blockBytes = 132, blocks = 64;
  std::vector<std::byte> bytes(blockBytes * blocks);
  fillRandomValues({bytes.size(), 3, 0.0f, 1.0f}, "e4m3_g128_f32", bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    if (i % blockBytes >= sizeof(float)) {
      ASSERT_NE(bytes[i] & std::byte{0x7F}, std::byte{0x7F}) << i;
    }
}

/// The least scale of NVFP4 stands in for what it cannot say.
TEST(RandomValues, AreNeverAllZero) {
  std::vector<std::byte> bytes(36);
  fillRandomValues({36, 3, 0.0f, 1e-6f}, "nvfp4", bytes);
  for (int group = 0; group < 4; ++group)
    EXPECT_EQ(bytes[group], std::byte{1}) << group;
}

} // namespace
} // namespace tenon::runtime
