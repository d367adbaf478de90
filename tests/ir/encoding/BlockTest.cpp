#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Encoding.h"
#include "ir/encoding/Float16.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

std::vector<std::byte> encodeF32(std::string_view name, const std::vector<float>& values) {
  const Encoding& encoding = *findEncoding(name);
  std::vector<std::byte> encoded(encoding.bytesFor(std::ssize(values)));
  encoding.encodeF32(values, encoded);
  return encoded;
}

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

// The quants and the scale of q8_0, the latter widened, and the sum of the quants.
TEST(Q8_S, HoldsWhatQ8_0Holds) {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i)
    values[i] = std::sin(static_cast<float>(i * i)) * static_cast<float>(i);
  std::vector<std::byte> q8_0 = encodeF32("q8_0", values), q8_s = encodeF32("q8_s", values);
  for (size_t block = 0; block < 2; ++block) {
    uint16_t half;
    std::memcpy(&half, &q8_0[34 * block], 2);
    float scale;
    std::memcpy(&scale, &q8_s[40 * block], 4);
    EXPECT_EQ(scale, f16ToF32(half));
    EXPECT_EQ(std::memcmp(&q8_s[40 * block + 8], &q8_0[34 * block + 2], 32), 0);
    int32_t sum, expected = 0;
    std::memcpy(&sum, &q8_s[40 * block + 4], 4);
    for (size_t i = 0; i < 32; ++i)
      expected += static_cast<int8_t>(q8_0[34 * block + 2 + i]);
    EXPECT_EQ(sum, expected);
  }
}

TEST(Q8_K, KeepsSumsOfSixteen) {
  std::vector<float> values(256);
  for (int i = 0; i < 256; ++i)
    values[i] = static_cast<float>(i) - 100;
  std::vector<std::byte> encoded = encodeF32("q8_k", values);
  float scale;
  std::memcpy(&scale, encoded.data(), 4);
  EXPECT_FLOAT_EQ(scale, 155.0f / 127);
  for (int group = 0; group < 16; ++group) {
    int expected = 0;
    for (int i = 16 * group; i < 16 * group + 16; ++i) {
      int quant = static_cast<int8_t>(encoded[4 + i]);
      EXPECT_NEAR(quant, values[i] / scale, 0.5001);
      expected += quant;
    }
    int16_t sum;
    std::memcpy(&sum, &encoded[260 + 2 * group], 2);
    EXPECT_EQ(sum, expected);
  }
}

class EveryBlock : public ::testing::TestWithParam<const Encoding*> {};

// ggml leaves these undefined; here they must neither trap nor leave the range.
TEST_P(EveryBlock, SurvivesWhatHasNoScale) {
  const Encoding& encoding = *GetParam();
  float infinity = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (float odd : {infinity, -infinity, nan, 1e-45f, -1e-45f, 1e-20f, -1e-20f, 3e38f, -3e38f}) {
    std::vector<float> values(encoding.blockSize, 0.0f);
    values[5] = odd;
    std::vector<std::byte> encoded = encodeF32(encoding.name, values);
    std::vector<double> decoded(values.size());
    encoding.decode(encoded, decoded);
    const BlockFormat* format = findBlockFormat(encoding.name);
    bool hasF16Scale = format ? format->scale.type == BlockFormat::NumberType::F16
                              : encoding.name == "q8_s"; // an f32 with the value of an f16
    if (std::fabs(odd) < 1 && hasF16Scale)
      EXPECT_EQ(decoded[5], 0.0) << odd;
  }
  encodeF32(encoding.name, std::vector<float>(encoding.blockSize, nan));
  encodeF32(encoding.name, std::vector<float>(encoding.blockSize, infinity));
}

TEST_P(EveryBlock, ZerosStayZero) {
  const Encoding& encoding = *GetParam();
  std::vector<std::byte> encoded =
      encodeF32(encoding.name, std::vector<float>(encoding.blockSize, 0.0f));
  std::vector<double> decoded(encoding.blockSize, 1.0);
  encoding.decode(encoded, decoded);
  EXPECT_EQ(decoded, std::vector<double>(encoding.blockSize, 0.0));
}

std::vector<const Encoding*> blockEncodings() {
  std::vector<const Encoding*> blocks;
  for (const Encoding* encoding : allEncodings())
    if (encoding->isBlockQuantized())
      blocks.push_back(encoding);
  return blocks;
}

INSTANTIATE_TEST_SUITE_P(List, EveryBlock, ::testing::ValuesIn(blockEncodings()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace tenon
