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
    if (std::fabs(odd) < 1)
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
