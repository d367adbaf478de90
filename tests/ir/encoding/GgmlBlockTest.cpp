// Each block format against what ggml made of the same bytes, and against a second reading of its
// layout, written here one element at a time and in f32, as ggml computes.

#include <bit>
#include <cmath>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include "ir/encoding/Encoding.h"
#include "ir/encoding/Float16.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

using Bytes = const uint8_t*;

float half(Bytes bytes) { return f16ToF32(static_cast<uint16_t>(bytes[0] | bytes[1] << 8)); }

/// Bits `shift` … `shift` + `count` − 1 of a byte.
int bitsOf(uint8_t byte, int shift, int count) { return byte >> shift & ((1 << count) - 1); }

/// Quant i of the 16 bytes that hold 32 quants.
int nibble(Bytes bytes, int i) { return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4; }
/// Bit i of four bytes.
int bit(Bytes bytes, int i) { return bitsOf(bytes[i / 8], i % 8, 1); }

float q8_0(Bytes b, int i) { return half(b) * static_cast<float>(static_cast<int8_t>(b[2 + i])); }
float q4_0(Bytes b, int i) { return half(b) * static_cast<float>(nibble(b + 2, i) - 8); }
float q4_1(Bytes b, int i) {
  float product = half(b) * static_cast<float>(nibble(b + 4, i));
  return product + half(b + 2);
}
float q5_0(Bytes b, int i) {
  return half(b) * static_cast<float>(nibble(b + 6, i) + 16 * bit(b + 2, i) - 16);
}
float q5_1(Bytes b, int i) {
  float product = half(b) * static_cast<float>(nibble(b + 8, i) + 16 * bit(b + 4, i));
  return product + half(b + 2);
}
float iq4_nl(Bytes b, int i) {
  static constexpr float levels[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};
  return half(b) * levels[nibble(b + 2, i)];
}

float q2_k(Bytes b, int i) {
  int quant = bitsOf(b[16 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2);
  float scale = half(b + 80) * static_cast<float>(b[i / 16] & 15);
  float minimum = half(b + 82) * static_cast<float>(b[i / 16] >> 4);
  float product = scale * static_cast<float>(quant);
  return product - minimum;
}

float q3_k(Bytes b, int i) {
  int quant = bitsOf(b[32 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2);
  if (bitsOf(b[i % 32], i / 32, 1) == 0)
    quant -= 4;
  int group = i / 16;
  int low = bitsOf(b[96 + group % 8], group / 8 * 4, 4);
  int high = bitsOf(b[104 + group % 4], group / 4 * 2, 2);
  float scale = half(b + 108) * static_cast<float>(high * 16 + low - 32);
  return scale * static_cast<float>(quant);
}

/// Group g's value of q4_k and q5_k, whose scales begin at `scales`.
float affine(Bytes b, Bytes scales, int group, int quant) {
  int scale;
  int minimum;
  if (group < 4) {
    scale = bitsOf(scales[group], 0, 6);
    minimum = bitsOf(scales[group + 4], 0, 6);
  } else {
    scale = bitsOf(scales[group + 4], 0, 4) + 16 * bitsOf(scales[group - 4], 6, 2);
    minimum = bitsOf(scales[group + 4], 4, 4) + 16 * bitsOf(scales[group], 6, 2);
  }
  float groupScale = half(b) * static_cast<float>(scale);
  float groupMinimum = half(b + 2) * static_cast<float>(minimum);
  float product = groupScale * static_cast<float>(quant);
  return product - groupMinimum;
}

float q4_k(Bytes b, int i) {
  return affine(b, b + 4, i / 32, bitsOf(b[16 + i / 64 * 32 + i % 32], i % 64 / 32 * 4, 4));
}
float q5_k(Bytes b, int i) {
  int low = bitsOf(b[48 + i / 64 * 32 + i % 32], i % 64 / 32 * 4, 4);
  return affine(b, b + 4, i / 32, low + 16 * bitsOf(b[16 + i % 32], i / 32, 1));
}
float q6_k(Bytes b, int i) {
  int low = bitsOf(b[i / 128 * 64 + i % 64], i % 128 / 64 * 4, 4);
  int high = bitsOf(b[128 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2);
  float scale = half(b + 208) * static_cast<float>(static_cast<int8_t>(b[192 + i / 16]));
  return scale * static_cast<float>(high * 16 + low - 32);
}

/// E2M1 numbers, doubled, and a scale that is halved: ggml's `kvalues_mxfp4`.
float doubledE2M1(int nibble) {
  static constexpr float levels[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  return levels[nibble];
}
float mxfp4(Bytes b, int i) {
  return static_cast<float>(std::ldexp(1.0, b[0] - 128)) * doubledE2M1(nibble(b + 1, i));
}
float nvfp4(Bytes b, int i) {
  uint8_t scale = b[i / 16];
  float mantissa = static_cast<float>(bitsOf(scale, 0, 3));
  int exponent = bitsOf(scale, 3, 4);
  float number =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(1 + mantissa / 8, exponent - 7);
  float half = scale == 0x7F ? 0.0f : number * 0.5f;
  int j = i % 16;
  return doubledE2M1(bitsOf(b[4 + i / 16 * 8 + j % 8], j / 8 * 4, 4)) * half;
}

struct Format {
  const char* name;
  int blockSize;
  int blockBytes;
  int ggufType;
  float (*value)(Bytes block, int i);

  friend void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }
};

class BlockLayout : public ::testing::TestWithParam<Format> {
protected:
  const Encoding& encoding = *findEncoding(GetParam().name);

  std::vector<float> decode(const std::string& bytes) {
    std::vector<double> values(bytes.size() / encoding.blockBytes * encoding.blockSize);
    encoding.decode(std::as_bytes(std::span(bytes)), values);
    return {values.begin(), values.end()};
  }

  void expectModelled(const std::string& bytes) {
    std::vector<float> values = decode(bytes);
    const auto* blocks = reinterpret_cast<Bytes>(bytes.data());
    for (size_t i = 0; i < values.size(); ++i) {
      Bytes block = blocks + i / encoding.blockSize * encoding.blockBytes;
      float expected = GetParam().value(block, static_cast<int>(i % encoding.blockSize));
      ASSERT_TRUE(std::bit_cast<uint32_t>(values[i]) == std::bit_cast<uint32_t>(expected) ||
                  (std::isnan(values[i]) && std::isnan(expected)))
          << "element " << i << ": " << values[i] << ", expected " << expected;
    }
  }
};

/// A format with bytes that ggml made.
class GgmlBlock : public BlockLayout {
protected:
  std::string readData(std::string_view suffix) {
    std::string base = std::string(TENON_TEST_DATA) + "/gguf-blocks/" + GetParam().name;
    return tests::readFile(base + std::string(suffix));
  }
};

TEST_P(BlockLayout, HasItsSizeAndNumber) {
  EXPECT_EQ(encoding.blockSize, GetParam().blockSize);
  EXPECT_EQ(encoding.blockBytes, GetParam().blockBytes);
  EXPECT_EQ(encoding.ggufType, GetParam().ggufType);
}

TEST_P(GgmlBlock, QuantisesBitForBit) {
  std::string length = encoding.blockSize == 256 ? "512" : "64";
  std::string input = readData("_" + length + "_noim_input.bin");
  std::string expected = readData("_" + length + "_noim_expected.bin");
  ASSERT_EQ(input.size(), 2 * std::stoul(length) * sizeof(float));
  std::vector<float> values(input.size() / sizeof(float));
  std::memcpy(values.data(), input.data(), input.size());
  std::string encoded(encoding.bytesFor(std::ssize(values)), '\xAA');
  encoding.encodeF32(values, std::as_writable_bytes(std::span(encoded)));
  ASSERT_EQ(encoded.size(), expected.size());
  size_t different = 0;
  for (size_t i = 0; i < encoded.size(); ++i)
    different += encoded[i] != expected[i];
  EXPECT_EQ(different, 0u) << "of " << encoded.size() << " bytes";
  expectModelled(expected);
}

TEST_P(GgmlBlock, DecodesRowsAsGgmlDoes) {
  std::string encoded = readData("_256_rows_encoded.bin");
  std::string expected = readData("_256_rows_decoded.bin");
  ASSERT_EQ(expected.size(), 2 * 256 * sizeof(float));
  std::vector<float> values = decode(encoded);
  ASSERT_EQ(values.size() * sizeof(float), expected.size());
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0);
  expectModelled(encoded);
}

// Every bit of a block matters somewhere: scales of all kinds, infinite and NaN too.
TEST_P(BlockLayout, DecodesRandomBytesByItsLayout) {
  constexpr uint32_t seed = 20261121;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::string bytes(1000 * encoding.blockBytes, '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random());
  expectModelled(bytes);
}

TEST_P(BlockLayout, KeepsGaussiansWithinTheFormatsError) {
  std::mt19937 random(7);
  std::normal_distribution<float> gauss;
  std::vector<float> values(256 * 40);
  for (float& value : values)
    value = gauss(random);
  std::string encoded(encoding.bytesFor(std::ssize(values)), '\0');
  encoding.encodeF32(values, std::as_writable_bytes(std::span(encoded)));
  std::vector<float> decoded = decode(encoded);
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(decoded[i] - values[i], 2);
    power += std::pow(values[i], 2);
  }
  double bits = 8.0 * GetParam().blockBytes / GetParam().blockSize;
  // A uniform quantiser of b bits over ±3 deviations has steps of 6 · 2^−b and an error of a
  // twelfth of their square, 3 · 4^−b; at most one bit goes to the scales.
  EXPECT_LT(error / power, 3 * std::pow(4, 1 - bits));
}

constexpr Format withData[] = {
    {"q8_0", 32, 34, 8, q8_0},    {"q4_0", 32, 18, 2, q4_0},     {"q4_1", 32, 20, 3, q4_1},
    {"q5_0", 32, 22, 6, q5_0},    {"q5_1", 32, 24, 7, q5_1},     {"q2_k", 256, 84, 10, q2_k},
    {"q3_k", 256, 110, 11, q3_k}, {"q4_k", 256, 144, 12, q4_k},  {"q5_k", 256, 176, 13, q5_k},
    {"q6_k", 256, 210, 14, q6_k}, {"iq4_nl", 32, 18, 20, iq4_nl}};
constexpr Format withoutData[] = {{"mxfp4", 32, 17, 39, mxfp4}, {"nvfp4", 64, 36, 40, nvfp4}};

std::string nameOf(const ::testing::TestParamInfo<Format>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Types, GgmlBlock, ::testing::ValuesIn(withData), nameOf);
INSTANTIATE_TEST_SUITE_P(Types, BlockLayout, ::testing::ValuesIn(withData), nameOf);
INSTANTIATE_TEST_SUITE_P(Fp4, BlockLayout, ::testing::ValuesIn(withoutData), nameOf);

} // namespace
} // namespace tenon
