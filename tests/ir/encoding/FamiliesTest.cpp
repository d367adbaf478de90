#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/encoding/Encoding.h"
#include "ir/encoding/Float16.h"

namespace tenon {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<double> decode(const std::string& name, const Bytes& bytes) {
  const Encoding& encoding = *findEncoding(name);
  std::vector<double> values(bytes.size() / encoding.blockBytes * encoding.blockSize);
  encoding.decode(bytes, values);
  return values;
}

Bytes randomBytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

void setNumber(Bytes& bytes, size_t offset, uint16_t bits) {
  std::memcpy(bytes.data() + offset, &bits, sizeof bits);
}

/// Where the table in `families/Integers.cpp` puts quant i of a block, said once more.
int quantAt(const Bytes& bytes, size_t head, int bits, size_t size, size_t i) {
  auto byte = [&](size_t at) { return std::to_integer<int>(bytes[head + at]); };
  size_t part = i / 32, in = i % 32;
  switch (bits) {
  case 4:
    return byte(16 * part + in % 16) >> 4 * (in / 16) & 15;
  case 8:
    return byte(i);
  default:
    int low = byte(8 * part + in % 8) >> 2 * (in / 8) & 3;
    return bits == 2 ? low : low | (byte(size / 4 + i / 8) >> i % 8 & 1) << 2;
  }
}

struct Member {
  int bits;
  int size;
  bool isF16;
  std::string zero;

  std::string name() const {
    return "int" + std::to_string(bits) + "_g" + std::to_string(size) + (isF16 ? "_f16" : "_bf16") +
           (zero.empty() ? "" : "_" + zero);
  }
};

std::vector<Member> allMembers() {
  std::vector<Member> members;
  for (int bits : {2, 3, 4, 8})
    for (int size : {32, 64, 128})
      for (bool isF16 : {true, false})
        for (const char* zero : {"", "zero", "min"})
          members.push_back({bits, size, isF16, zero});
  return members;
}

class Integers : public ::testing::TestWithParam<Member> {};

TEST_P(Integers, DecodeAsDescribed) {
  const Member& member = GetParam();
  const Encoding* encoding = findEncoding(member.name());
  ASSERT_NE(encoding, nullptr);
  size_t head = member.zero.empty() ? 2 : 4, size = member.size;
  ASSERT_EQ(encoding->blockSize, member.size);
  ASSERT_EQ(encoding->blockBytes, static_cast<int64_t>(head + size * member.bits / 8));
  Bytes bytes = randomBytes(encoding->blockBytes, member.bits);
  float scale = 0.0234375f, minimum = -0.40625f; // exact in both types
  auto number = [&](float value) { return member.isF16 ? f32ToF16(value) : f32ToBf16(value); };
  int zero = 1 << member.bits; // the largest
  setNumber(bytes, 0, number(scale));
  if (head == 4)
    setNumber(bytes, 2, member.zero == "zero" ? static_cast<uint16_t>(zero) : number(minimum));
  std::vector<double> values = decode(member.name(), bytes);
  for (size_t i = 0; i < size; ++i) {
    int quant = quantAt(bytes, head, member.bits, size, i);
    double expected = member.zero == "min"    ? scale * quant + minimum
                      : member.zero == "zero" ? scale * (quant - zero)
                                              : scale * (quant - zero / 2);
    ASSERT_EQ(values[i], expected) << i;
  }
}

/// Half a step, and where a zero is stored half a step more for moving the grid.
TEST_P(Integers, EncodeWithinAStep) {
  const Member& member = GetParam();
  const Encoding& encoding = *findEncoding(member.name());
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(member.size), found(member.size);
  for (double& value : values)
    value = uniform(random);
  Bytes bytes(encoding.blockBytes);
  encoding.encode(values, bytes);
  encoding.decode(bytes, found);
  double step = 2.0 / ((1 << member.bits) - 1), rounding = member.isF16 ? 0x1p-10 : 0x1p-7;
  for (int i = 0; i < member.size; ++i)
    EXPECT_NEAR(found[i], values[i], 1.1 * step + rounding) << i;
}

INSTANTIATE_TEST_SUITE_P(All, Integers, ::testing::ValuesIn(allMembers()),
                         [](const auto& info) { return info.param.name(); });

class WideIntegers : public ::testing::TestWithParam<Member> {};

/// What the groups hold in blocks of their own; quants first, then what scales them.
TEST_P(WideIntegers, HoldTheirGroups) {
  const Member& member = GetParam();
  const Encoding& narrow = *findEncoding(member.name());
  for (size_t groups : {2, 4, 8}) {
    if (groups != 8 && member.zero.empty())
      continue;
    std::string name = member.name();
    name.insert(name.find("_g128") + 5, "x" + std::to_string(groups));
    SCOPED_TRACE(name);
    const Encoding* wide = findEncoding(name);
    ASSERT_NE(wide, nullptr);
    size_t head = narrow.blockBytes - 64, stride = head + (groups == 2 ? 4 : 0);
    ASSERT_EQ(wide->blockSize, static_cast<int64_t>(128 * groups));
    ASSERT_EQ(wide->blockBytes, static_cast<int64_t>(groups * (64 + stride)));
    ASSERT_EQ(wide->blockBytes % 16, 0);
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(2048);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = uniform(random) * static_cast<double>(1 + i / 128);
    Bytes ofGroups(narrow.bytesFor(2048)), together(wide->bytesFor(2048), std::byte{0x5A});
    narrow.encode(values, ofGroups);
    wide->encode(values, together);
    EXPECT_EQ(decode(name, together), decode(member.name(), ofGroups));
    for (size_t group = 0; group < 16; ++group) {
      const std::byte* block = together.data() + group / groups * wide->blockBytes;
      const std::byte* one = ofGroups.data() + group * narrow.blockBytes;
      const std::byte* ownHead = block + 64 * groups + group % groups * stride;
      EXPECT_EQ(std::memcmp(block + group % groups * 64, one + head, 64), 0) << group;
      EXPECT_EQ(std::memcmp(ownHead, one, head), 0) << group;
      for (size_t i = head; i < stride; ++i)
        EXPECT_EQ(ownHead[i], std::byte{0}) << group;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WideIntegers,
                         ::testing::Values(Member{4, 128, true, ""}, Member{4, 128, true, "zero"},
                                           Member{4, 128, false, ""},
                                           Member{4, 128, false, "zero"}),
                         [](const auto& info) { return info.param.name(); });

/// Every code, by the definition of the format.
TEST(E4M3, DecodesEveryCode) {
  Bytes bytes(2 * 132);
  float scale = 3.0f;
  for (int code = 0; code < 256; ++code) {
    std::memcpy(bytes.data() + code / 128 * 132, &scale, sizeof scale);
    bytes[code / 128 * 132 + 4 + code % 128] = static_cast<std::byte>(code);
  }
  std::vector<double> values = decode("e4m3_g128_f32", bytes);
  for (int code = 0; code < 256; ++code) {
    int exponent = code >> 3 & 15, mantissa = code & 7;
    double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    EXPECT_EQ(values[code], 3 * (code & 128 ? -magnitude : magnitude)) << code;
  }
}

TEST(E4M3, RoundsToTheNearestNumber) {
  const Encoding& encoding = *findEncoding("e4m3_g32_f32");
  Bytes bytes(encoding.blockBytes);
  std::vector<double> values(32), found(32);
  values[0] = 448; // scale 1
  values[1] = 17, values[2] = 19, values[3] = -0x1p-9, values[4] = 0x1.8p-10, values[5] = 447;
  values[6] = 0x1p-11;
  encoding.encode(values, bytes);
  encoding.decode(bytes, found);
  EXPECT_EQ(found[0], 448);
  EXPECT_EQ(found[1], 16); // between 16 and 18, to even
  EXPECT_EQ(found[2], 20);
  EXPECT_EQ(found[3], -0x1p-9);
  EXPECT_EQ(found[4], 0x1p-9);
  EXPECT_EQ(found[5], 448);
  EXPECT_EQ(found[6], 0);
}

/// Every E2M1 number, by the definition of the format.
constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};

TEST(Fp4, DecodesEveryCodeOfMxfp4) {
  Bytes bytes(17);
  for (int scale : {0, 1, 127, 254, 255}) {
    bytes[0] = static_cast<std::byte>(scale);
    for (int i = 0; i < 16; ++i)
      bytes[1 + i] = static_cast<std::byte>(i | (15 - i) << 4);
    std::vector<double> values = decode("mxfp4", bytes);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(values[i], std::ldexp(e2m1[i], scale - 127)) << scale << " " << i;
      EXPECT_EQ(values[i + 16], std::ldexp(e2m1[15 - i], scale - 127)) << scale << " " << i;
    }
  }
}

TEST(Fp4, EncodesMxfp4WithThePowerOfTwoBelowTheLargest) {
  std::vector<double> values(32);
  for (int i = 0; i < 16; ++i)
    values[i] = e2m1[i] / 8, values[16 + i] = e2m1[15 - i] / 8;
  Bytes bytes(17);
  findEncoding("mxfp4")->encode(values, bytes);
  EXPECT_EQ(bytes[0], std::byte{127 - 3});
  EXPECT_EQ(decode("mxfp4", bytes), values);
  values.assign(32, 0);
  values[0] = 7.9; // 6 is the most that the scale of 4 to 8 holds
  values[1] = 0.25, values[2] = 0.75, values[3] = -5;
  findEncoding("mxfp4")->encode(values, bytes);
  std::vector<double> found = decode("mxfp4", bytes);
  EXPECT_EQ(found[0], 6);
  EXPECT_EQ(found[1], 0);   // half-way between 0 and 0.5
  EXPECT_EQ(found[2], 0.5); // and 1
  EXPECT_EQ(found[3], -4);
}

TEST(Fp4, ScalesGroupsOf16OfNvfp4) {
  Bytes bytes(36);
  const std::byte scales[] = {std::byte{0x38}, std::byte{0x01}, std::byte{0x7F}, std::byte{0x7E}};
  const double expected[] = {1, 0x1p-9, 0, 448};
  std::copy(scales, scales + 4, bytes.begin());
  for (int i = 0; i < 32; ++i)
    bytes[4 + i] = static_cast<std::byte>(i % 8 | (15 - i % 8) << 4);
  std::vector<double> values = decode("nvfp4", bytes);
  for (int i = 0; i < 64; ++i) {
    int j = i % 16;
    EXPECT_EQ(values[i], expected[i / 16] * e2m1[j < 8 ? j : 15 - j % 8]) << i;
  }
}

TEST(Fp4, EncodesNvfp4AsGgmlRoundsScales) {
  std::vector<double> values(64);
  values[0] = 6;        // 1
  values[16] = 6 * 17;  // half-way between 16 and 18, upwards
  values[32] = 6 * 300; // from 256 on 448
  values[48] = 6e-4;    // below half of the least
  Bytes bytes(36);
  findEncoding("nvfp4")->encode(values, bytes);
  EXPECT_EQ(bytes[0], std::byte{0x38});
  EXPECT_EQ(bytes[1], std::byte{0x59});
  EXPECT_EQ(bytes[2], std::byte{0x7E});
  EXPECT_EQ(bytes[3], std::byte{0x00});
}

TEST(Fp4, MultipliesByTheScaleOfAll) {
  Bytes bytes(76);
  float ofAll = 0.1f;
  std::memcpy(bytes.data(), &ofAll, sizeof ofAll);
  for (int group = 0; group < 8; ++group)
    bytes[4 + group] = static_cast<std::byte>(0x30 + group);
  for (int i = 0; i < 64; ++i)
    bytes[12 + i] = std::byte{0x79}; // −0.5 and 6
  std::vector<double> values = decode("nvfp4_f32", bytes);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(values[i],
              static_cast<double>(ofAll) * ((8 + i / 16) / 16.0) * (i % 16 < 8 ? -0.5 : 6))
        << i;
}

TEST(Fp4, KeepsGaussiansWithTheScaleOfAll) {
  const Encoding& encoding = *findEncoding("nvfp4_f32");
  std::mt19937 random(7);
  std::normal_distribution<double> gauss(0, 1e-3); // below what scales alone could hold
  std::vector<double> values(128 * 40), found(values.size());
  for (double& value : values)
    value = gauss(random);
  Bytes bytes(encoding.bytesFor(std::ssize(values)));
  encoding.encode(values, bytes);
  encoding.decode(bytes, found);
  double error = 0, power = 0;
  for (size_t i = 0; i < values.size(); ++i)
    error += std::pow(found[i] - values[i], 2), power += std::pow(values[i], 2);
  EXPECT_LT(error / power, 0.012);
}

} // namespace
} // namespace tenon
