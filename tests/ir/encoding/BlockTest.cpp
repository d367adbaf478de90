#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ir/encoding/Encoding.h"
#include "ir/encoding/Float16.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

std::vector<std::byte> encodeF32(const char* name, const std::vector<float>& values) {
  const Encoding& encoding = *findEncoding(name);
  std::vector<std::byte> encoded(encoding.bytesFor(std::ssize(values)));
  encoding.encodeF32(values, encoded);
  return encoded;
}

class GgmlFixture : public ::testing::TestWithParam<const char*> {};

TEST_P(GgmlFixture, QuantisesBitForBit) {
  std::string base = std::string(TENON_TEST_DATA) + "/gguf-blocks/" + GetParam() + "_64_noim_";
  std::string input = tests::readFile(base + "input.bin");
  std::string expected = tests::readFile(base + "expected.bin");
  ASSERT_EQ(input.size(), 512u);
  std::vector<float> values(input.size() / sizeof(float));
  std::memcpy(values.data(), input.data(), input.size());
  std::vector<std::byte> encoded = encodeF32(GetParam(), values);
  ASSERT_EQ(encoded.size(), expected.size());
  EXPECT_EQ(std::memcmp(encoded.data(), expected.data(), expected.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(Types, GgmlFixture, ::testing::Values("q8_0", "q4_0"));

TEST(Q8_0, DecodesByItsDefinition) {
  std::vector<std::byte> block(34);
  uint16_t scale = f32ToF16(0.25f);
  std::memcpy(block.data(), &scale, 2);
  for (int i = 0; i < 32; ++i)
    block[2 + i] = static_cast<std::byte>(i * 8 - 128);
  std::vector<double> values(32);
  findEncoding("q8_0")->decode(block, values);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], 0.25 * (i * 8 - 128));
}

TEST(Q4_0, DecodesByItsDefinition) {
  std::vector<std::byte> block(18);
  uint16_t scale = f32ToF16(-0.5f);
  std::memcpy(block.data(), &scale, 2);
  for (int i = 0; i < 16; ++i)
    block[2 + i] = static_cast<std::byte>(i | (15 - i) << 4);
  std::vector<double> values(32);
  findEncoding("q4_0")->decode(block, values);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], -0.5 * (i - 8));
    EXPECT_EQ(values[i + 16], -0.5 * (7 - i));
  }
}

// ggml rounds with roundf, half away from zero; a scale of exactly 1 shows it.
TEST(Q8_0, RoundsHalvesAwayFromZero) {
  std::vector<float> values(32);
  for (int i = 0; i < 31; ++i)
    values[i] = static_cast<float>(i) * 4 + (i % 2 ? 0.5f : -0.5f);
  values[3] = std::nextafter(0.5f, 0.0f);
  values[31] = 127;
  std::vector<std::byte> encoded = encodeF32("q8_0", values);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(static_cast<int8_t>(encoded[2 + i]), static_cast<int>(std::roundf(values[i]))) << i;
}

TEST(Q8_0, RoundsLikeRoundfBesideEveryHalf) {
  for (int whole = -127; whole < 127; ++whole) {
    float half = static_cast<float>(whole) + 0.5f;
    std::vector<float> values(32, 0.0f);
    values[0] = 127;
    values[1] = std::nextafter(half, -200.0f);
    values[2] = half;
    values[3] = std::nextafter(half, 200.0f);
    std::vector<std::byte> encoded = encodeF32("q8_0", values);
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(static_cast<int8_t>(encoded[2 + i]), static_cast<int>(std::roundf(values[i])));
  }
}

// ggml leaves these undefined; here they must neither trap nor leave the range.
TEST(Blocks, SurviveWhatHasNoScale) {
  float infinity = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"q8_0", "q4_0"})
    for (float odd : {infinity, -infinity, nan, 1e-45f, -1e-45f, 3e38f}) {
      std::vector<float> values(32, 0.0f);
      values[5] = odd;
      std::vector<std::byte> encoded = encodeF32(name, values);
      std::vector<double> decoded(32);
      findEncoding(name)->decode(encoded, decoded);
      if (std::fabs(odd) < 1)
        EXPECT_EQ(decoded[5], 0.0) << name;
    }
}

TEST(Blocks, ZerosStayZero) {
  for (const char* name : {"q8_0", "q4_0"}) {
    std::vector<std::byte> encoded = encodeF32(name, std::vector<float>(32, 0.0f));
    std::vector<double> decoded(32, 1.0);
    findEncoding(name)->decode(encoded, decoded);
    EXPECT_EQ(decoded, std::vector<double>(32, 0.0)) << name;
  }
}

} // namespace
} // namespace tenon
