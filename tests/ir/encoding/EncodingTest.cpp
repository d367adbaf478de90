#include "ir/encoding/Encoding.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Encoding, ListIsConsistent) {
  std::set<std::string_view> names;
  std::set<int32_t> numbers;
  for (const Encoding* encoding : allEncodings()) {
    EXPECT_TRUE(names.insert(encoding->name).second) << encoding->name;
    EXPECT_EQ(findEncoding(encoding->name), encoding);
    if (encoding->ggufType >= 0) {
      EXPECT_TRUE(numbers.insert(encoding->ggufType).second) << encoding->name;
      EXPECT_EQ(findEncodingOfGgufType(encoding->ggufType), encoding);
    }
    EXPECT_GE(encoding->blockSize, 1);
    EXPECT_GE(encoding->blockBytes, 1);
  }
  size_t ofFamilies = std::erase_if(names, [](std::string_view name) {
    return name.starts_with("int") || name.starts_with("e4m3");
  });
  EXPECT_EQ(ofFamilies, 4 * 3 * 2 * 3 + 3 + 8u); // bits, groups, scales, zeros; of FP8; wide
  EXPECT_EQ(names, (std::set<std::string_view>{
                       "f32",    "f16",  "bf16", "bool",  "i32",   "i64",      "q8_0", "q4_0",
                       "q4_1",   "q5_0", "q5_1", "q2_k",  "q3_k",  "q4_k",     "q5_k", "q6_k",
                       "iq4_nl", "q8_s", "q8_k", "mxfp4", "nvfp4", "nvfp4_f32"}));
  EXPECT_EQ(findEncoding("q9_9"), nullptr);
  EXPECT_EQ(findEncodingOfGgufType(-1), nullptr);
  EXPECT_EQ(findEncodingOfGgufType(999), nullptr);
}

TEST(Encoding, PairsActivationsWithBlocksOfWeights) {
  EXPECT_EQ(findActivationEncoding(*findEncoding("q4_0")), findEncoding("q8_s"));
  EXPECT_EQ(findActivationEncoding(*findEncoding("q6_k")), findEncoding("q8_k"));
  EXPECT_EQ(findActivationEncoding(*findEncoding("f16")), nullptr);
  EXPECT_EQ(findActivationEncoding(*findEncoding("int4_g32_f16")), nullptr);
}

TEST(Encoding, BytesForCountsBlocks) {
  EXPECT_EQ(findEncoding("q4_0")->bytesFor(64), 36);
  EXPECT_EQ(findEncoding("q8_0")->bytesFor(64), 68);
  EXPECT_EQ(findEncoding("bf16")->bytesFor(3), 6);
  EXPECT_EQ(findEncoding("q6_k")->bytesFor(512), 420);
  EXPECT_TRUE(findEncoding("q4_0")->isBlockQuantized());
  EXPECT_FALSE(findEncoding("f32")->isBlockQuantized());
}

std::vector<double> roundTrip(const Encoding& encoding, std::vector<double> values) {
  std::vector<std::byte> encoded(encoding.bytesFor(std::ssize(values)));
  encoding.encode(values, encoded);
  encoding.decode(encoded, values);
  return values;
}

TEST(Encoding, I32RoundsToNearestEvenAndSaturates) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTrip(*findEncoding("i32"), {0.5, 1.5, -2.5, 2147483646.6, 1e10, -1e10, infinity,
                                             -infinity, std::numeric_limits<double>::quiet_NaN()}),
            (std::vector<double>{0, 2, -2, 2147483647, 2147483647, -2147483648.0, 2147483647,
                                 -2147483648.0, 0}));
}

TEST(Encoding, I64RoundsToNearestEvenAndSaturates) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTrip(*findEncoding("i64"), {0.5, 1.5, -2.5, 0x1p53, -0x1p62, infinity, -infinity,
                                             std::numeric_limits<double>::quiet_NaN()}),
            (std::vector<double>{0, 2, -2, 0x1p53, -0x1p62, 0x1p63, -0x1p63, 0}));
}

TEST(Encoding, BoolsAreBytes) {
  const Encoding& encoding = *findEncoding("bool");
  EXPECT_EQ(encoding.bytesFor(3), 3);
  EXPECT_EQ(roundTrip(encoding, {0, -0.0, 0.25, -3, std::numeric_limits<double>::quiet_NaN()}),
            (std::vector<double>{0, 0, 1, 1, 1}));
  std::vector<std::byte> bytes = {std::byte{0}, std::byte{1}, std::byte{0xff}};
  std::vector<double> values(3);
  encoding.decode(bytes, values);
  EXPECT_EQ(values, (std::vector<double>{0, 1, 1}));
}

TEST(Encoding, F32RoundsOnce) {
  EXPECT_EQ(roundTrip(*findEncoding("f32"), {1.0 + 0x1p-24, 1.0 + 0x1.8p-23, -0.0, 1e-45}),
            (std::vector<double>{1.0, 1.0 + 0x1p-22, -0.0, 0x1p-149}));
}

// 1 + 2^-11 + 2^-40 lies above the midpoint of two f16 numbers, but its f32 lies on it.
TEST(Encoding, SixteenBitTypesRoundDoublesOnce) {
  EXPECT_EQ(roundTrip(*findEncoding("f16"), {1.0 + 0x1p-11 + 0x1p-40})[0], 1.0 + 0x1p-10);
  EXPECT_EQ(roundTrip(*findEncoding("bf16"), {1.0 + 0x1p-8 + 0x1p-40})[0], 1.0 + 0x1p-7);
}

class EveryEncoding : public ::testing::TestWithParam<const Encoding*> {};

TEST_P(EveryEncoding, EncodesF32LikeTheSameDoubles) {
  const Encoding& encoding = *GetParam();
  constexpr uint32_t seed = 20260101;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<float> values;
  // Bit patterns of all kinds: every exponent, infinities, NaNs.
  for (int i = 0; i < 32 * 2000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  std::normal_distribution<float> gauss;
  for (int i = 0; i < 32 * 2000; ++i)
    values.push_back(gauss(random));
  std::vector<double> wide(values.begin(), values.end());
  std::vector<std::byte> fromF32(encoding.bytesFor(std::ssize(values)));
  std::vector<std::byte> fromF64 = fromF32;
  encoding.encodeF32(values, fromF32);
  encoding.encode(wide, fromF64);
  if (encoding.name == "f32") { // a NaN's payload need not survive the way through double
    encoding.decode(fromF32, wide);
    std::vector<double> other(wide.size());
    encoding.decode(fromF64, other);
    for (size_t i = 0; i < wide.size(); ++i)
      ASSERT_TRUE(wide[i] == other[i] || (wide[i] != wide[i] && other[i] != other[i])) << i;
    return;
  }
  EXPECT_TRUE(fromF32 == fromF64);
}

double squaredDistance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST_P(EveryEncoding, ReencodesWhatItDecoded) {
  const Encoding& encoding = *GetParam();
  std::vector<double> values;
  for (int i = 0; i < std::max<int64_t>(512, encoding.blockSize); ++i)
    values.push_back((i * 37 % 101 - 50) / 16.0);
  std::vector<double> once = roundTrip(encoding, values);
  std::vector<double> twice = roundTrip(encoding, once);
  if (!encoding.name.ends_with("_k"))
    EXPECT_EQ(twice, once);
  else // a K-quant fits its scales anew, but most of the error was made at first
    EXPECT_LT(squaredDistance(twice, once), 0.25 * squaredDistance(once, values));
}

TEST_P(EveryEncoding, AcceptsNoValues) {
  // No elements before a byte and values that must stay as they are.
  std::array<std::byte, 4> encoded;
  encoded.fill(std::byte{0x5a});
  std::array<double, 2> values = {0.25, -3};
  const std::array<float, 2> floats = {0.25f, -3};
  std::span<std::byte> noBytes = std::span(encoded).first(0);
  EXPECT_EQ(GetParam()->bytesFor(0), 0);
  GetParam()->encode(std::span<const double>(values).first(0), noBytes);
  GetParam()->encodeF32(std::span<const float>(floats).first(0), noBytes);
  EXPECT_EQ(std::ranges::count(encoded, std::byte{0x5a}), 4);
  GetParam()->decode(noBytes, std::span(values).first(0));
  EXPECT_EQ(values, (std::array<double, 2>{0.25, -3}));
}

INSTANTIATE_TEST_SUITE_P(List, EveryEncoding,
                         ::testing::ValuesIn(allEncodings().begin(), allEncodings().end()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace tenon
