#include "ir/containers/PackedWeight.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/encoding/Float16.h"
#include "nlohmann/json.hpp"
#include "tests/common/StatusMatchers.h"
#include "tests/ir/containers/WeightWriter.h"

namespace tenon::containers::test {
namespace {

using ::tenon::tests::IsOk;
using ::testing::HasSubstr;

/// Random codes; zeros from 1 up, or in the middle.
Matrix makeMatrix(int32_t bits, int64_t rows, int64_t columns, int64_t groupSize,
                  bool symmetric = false) {
  std::mt19937 random(static_cast<uint32_t>(bits * 1000 + columns));
  const uint32_t last = (1u << bits) - 1;
  return makeRandomMatrix(
      bits, rows, columns, groupSize, random,
      [&] { return symmetric ? 1u << (bits - 1) : static_cast<uint32_t>(1 + random() % last); },
      [&] { return static_cast<float>(1 + random() % 1000) / 4096; });
}

/// Columns dealt out to the groups in another order.
void shuffleColumns(Matrix& m) {
  std::mt19937 random(5);
  std::ranges::shuffle(m.groupOf, random);
}

std::vector<double> valuesOf(const Matrix& m, std::span<const int32_t> order) {
  std::vector<double> values;
  for (int64_t n = 0; n < m.rows; ++n)
    for (int64_t i = 0; i < m.columns; ++i) {
      int64_t k = order.empty() ? i : order[i];
      int64_t group = m.groupOf[k];
      double scale = f16ToF32(m.scales[n * m.groups() + group]);
      values.push_back(scale *
                       (static_cast<int>(m.code(n, k)) - static_cast<int>(m.zero(n, group))));
    }
  return values;
}

std::vector<std::byte> repack(const PackedWeight& weight) {
  std::vector<std::byte> bytes(weight.encoding().bytesFor(weight.rows() * weight.columns()));
  EXPECT_THAT(weight.repackRows(0, weight.rows(), bytes), IsOk());
  return bytes;
}

std::vector<double> decode(const PackedWeight& weight) {
  std::vector<double> values(weight.rows() * weight.columns());
  weight.encoding().decode(repack(weight), values);
  return values;
}

/// Decodes to exactly the matrix, in an encoding of that name.
void expectReads(const Matrix& m, const Written& written, const std::string& encoding) {
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ(weight->encoding().name, encoding);
  EXPECT_EQ(decode(*weight), valuesOf(m, weight->permutation()));
}

void expectRefused(const Written& written, const std::string& message) {
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
  ASSERT_FALSE(weight.ok());
  EXPECT_EQ(weight.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(weight.status().message()), HasSubstr(message));
}

TEST(PackedWeight, SameMatrixInFiveContainers) {
  Matrix m = makeMatrix(4, 64, 512, 128);
  std::vector<Written> all;
  all.push_back(writeGptq(m, /*lessOne=*/true));
  all.push_back(writeGptq(m, /*lessOne=*/false, /*withIndex=*/false));
  all.push_back(writeAwqGemm(m));
  all.push_back(writeAwqGemv(m));
  all.push_back(writePackQuantized(m));
  std::vector<std::vector<std::byte>> repacked;
  for (const Written& written : all) {
    ASSERT_NO_FATAL_FAILURE(expectReads(m, written, "int4_g128x4_f16_zero"));
    repacked.push_back(repack(*PackedWeight::create(written.request)));
  }
  for (const std::vector<std::byte>& other : repacked)
    EXPECT_TRUE(other == repacked[0]);
}

// As an expert among others that have zeros.
TEST(PackedWeight, KeepsZerosInTheMiddle) {
  for (auto [columns, group, bits, encoding] : {std::tuple{64, 32, 4, "int4_g32_f16"},
                                                {1024, 128, 4, "int4_g128x8_f16"},
                                                {128, 128, 4, "int4_g128_f16"},
                                                {64, 32, 8, "int8_g32_f16"}}) {
    Matrix m = makeMatrix(bits, 32, columns, group, /*symmetric=*/true);
    Written written = writeGptq(m, /*lessOne=*/false);
    ASSERT_NO_FATAL_FAILURE(expectReads(m, written, encoding));
    written.request.keepsZeros = true;
    ASSERT_NO_FATAL_FAILURE(expectReads(m, written, std::string(encoding) + "_zero"));
  }
}

TEST(PackedWeight, GroupsOfEverySize) {
  for (int64_t group : {32, 64, 96, 128, 256, 384}) {
    SCOPED_TRACE(group);
    Matrix m = makeMatrix(4, 16, 384, group);
    std::string size = group % 128 == 0 ? "128" : group % 64 == 0 ? "64" : "32";
    expectReads(m, writeGptq(m, false), "int4_g" + size + "_f16_zero");
    expectReads(m, writePackQuantized(m), "int4_g" + size + "_f16_zero");
    if (384 % group == 0)
      expectReads(m, writeAwqGemm(m), "int4_g" + size + "_f16_zero");
    if (384 % group == 0 && group != 96)
      expectReads(m, writeAwqGemv(m), "int4_g" + size + "_f16_zero");
  }
}

TEST(PackedWeight, GroupsOf128TogetherInRowsOfWholeOnes) {
  for (int64_t group : {128, 256, 1024}) {
    SCOPED_TRACE(group);
    Matrix m = makeMatrix(4, 16, 2048, group);
    expectReads(m, writeGptq(m, true), "int4_g128x8_f16_zero");
    expectReads(m, writeAwqGemm(m), "int4_g128x8_f16_zero");
    Matrix symmetric = makeMatrix(4, 16, 1024, group, true);
    expectReads(symmetric, writePackQuantized(symmetric), "int4_g128x8_f16");
  }
  Matrix four = makeMatrix(4, 16, 1536, 128), two = makeMatrix(4, 16, 768, 256);
  expectReads(four, writeGptq(four, true), "int4_g128x4_f16_zero");
  expectReads(two, writeAwqGemm(two), "int4_g128x2_f16_zero");
  Matrix middle = makeMatrix(4, 16, 768, 128, true);
  expectReads(middle, writePackQuantized(middle), "int4_g128x2_f16_zero");
  Matrix ordered = makeMatrix(4, 16, 1024, 128);
  shuffleColumns(ordered);
  expectReads(ordered, writeGptq(ordered, true), "int4_g128x8_f16_zero");
  Matrix of64 = makeMatrix(4, 16, 1024, 64);
  expectReads(of64, writeGptq(of64, true), "int4_g64_f16_zero");
  Matrix of8Bits = makeMatrix(8, 16, 1024, 128);
  expectReads(of8Bits, writeGptq(of8Bits, true), "int8_g128_f16_zero");
}

TEST(PackedWeight, EveryNumberOfBits) {
  for (int32_t bits : {2, 3, 4, 8}) {
    SCOPED_TRACE(bits);
    std::string name = "int" + std::to_string(bits) + "_g64_f16";
    Matrix m = makeMatrix(bits, 32, 192, 64);
    expectReads(m, writeGptq(m, true), name + "_zero");
    expectReads(m, writeGptq(m, false), name + "_zero");
    expectReads(m, writePackQuantized(m), name + "_zero");
    Matrix symmetric = makeMatrix(bits, 32, 192, 64, true);
    expectReads(symmetric, writeGptq(symmetric, true), name);
    expectReads(symmetric, writePackQuantized(symmetric), name);
  }
  Matrix m = makeMatrix(8, 32, 192, 192);
  expectReads(m, writeIntQuantized(m), "int8_g64_f16_zero");
  Matrix old = makeMatrix(3, 32, 192, 64);
  expectReads(old, writePackQuantized(old, /*perWord=*/10), "int3_g64_f16_zero");
}

TEST(PackedWeight, OneGroupAndBf16Scales) {
  Matrix m = makeMatrix(4, 16, 256, 256, true);
  for (uint16_t& scale : m.scales)
    scale = f32ToF16(bf16ToF32(f32ToBf16(f16ToF32(scale)))); // exact in both
  Written written = writeGptq(m, true);
  EXPECT_EQ(written.request.format.groupSize, -1);
  expectReads(m, written, "int4_g128x2_f16_zero");
  std::ranges::fill(m.groupOf, 0);
  expectReads(m, writeGptq(m, true), "int4_g128x2_f16_zero");
  Written bf16 = writeGptq(m, true);
  std::vector<uint16_t> scales;
  for (uint16_t scale : m.scales)
    scales.push_back(f32ToBf16(f16ToF32(scale)));
  bf16.part(Part::Scales).type = ElementType::Bf16;
  std::memcpy(bf16.bytes[Part::Scales].data(), scales.data(), 2 * scales.size());
  expectReads(m, bf16, "int4_g128x2_bf16_zero");
}

TEST(PackedWeight, OrderOfActivations) {
  Matrix m = makeMatrix(4, 16, 320, 64);
  shuffleColumns(m);
  for (const Written& written : {writeGptq(m, true), writePackQuantized(m, 0, true)}) {
    ASSERT_NO_FATAL_FAILURE(expectReads(m, written, "int4_g64_f16_zero"));
    const PackedWeight weight = PackedWeight::create(written.request).value();
    std::span<const int32_t> order = weight.permutation();
    ASSERT_EQ(order.size(), 320u);
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(m.groupOf[order[i]], static_cast<int32_t>(i / 64));
      if (i % 64 != 0)
        EXPECT_LT(order[i - 1], order[i]) << "columns of a group keep their order";
    }
  }
  Matrix inOrder = makeMatrix(4, 16, 320, 64);
  EXPECT_TRUE(PackedWeight::create(writeGptq(inOrder, true).request)->permutation().empty());
}

// Version 1 stores a zero less 1, of which 15 says 0 or 16.
TEST(PackedWeight, AmbiguousZeros) {
  Matrix m = makeMatrix(4, 16, 128, 128);
  m.zeros[3] = 16;
  Written written = writeGptq(m, true);
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ(weight->ambiguousZeros(), 1);
  EXPECT_EQ(decode(*weight), valuesOf(m, {}));

  // With a borrow: zero 0 takes 1 from its neighbour.
  m.zeros[3] = 0;
  written = writeGptq(m, false);
  for (size_t i = 0; i < 2; ++i)
    written.setWord(Part::Zeros, i, written.word(Part::Zeros, i) - 0x11111111u);
  written.request.format.layout = Layout::Gptq;
  written.request.format.borrowsAcrossZeros = true;
  weight = PackedWeight::create(written.request);
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ(weight->ambiguousZeros(), 0);
  EXPECT_EQ(decode(*weight), valuesOf(m, {}));

  Matrix odd = makeMatrix(3, 32, 64, 64);
  written = writeGptq(odd, true);
  written.request.format.borrowsAcrossZeros = true;
  expectRefused(written, "tensor 'zeros' expects zeros of 2, 4 or 8 bits where a borrow crosses");
}

/// E4M3 numbers with the scales of blocks; bytes below 0x7F.
Written writeFloat8(int64_t rows, int64_t columns, int64_t blockRows, int64_t blockColumns,
                    std::vector<int64_t> scaleShape) {
  Written written;
  written.request = {.file = "test.safetensors",
                     .format = {.layout = Layout::Float8,
                                .bits = 8,
                                .blockRows = blockRows,
                                .blockColumns = blockColumns},
                     .rows = rows,
                     .columns = columns,
                     .parts = {}};
  std::mt19937 random(9);
  std::vector<uint8_t> codes(rows * columns);
  for (uint8_t& code : codes)
    code = static_cast<uint8_t>(random() % 127 | (random() & 128));
  std::vector<float> scales(
      std::accumulate(scaleShape.begin(), scaleShape.end(), int64_t{1}, std::multiplies<>()));
  for (float& scale : scales)
    scale = static_cast<float>(random() % 1000) / 77.0f;
  written.add(Part::Codes, ElementType::F8E4M3, {rows, columns}, codes);
  written.add(Part::Scales, ElementType::F32, std::move(scaleShape), scales);
  return written;
}

double e4m3(uint8_t code) {
  int exponent = code >> 3 & 15, mantissa = code & 7;
  double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code & 128 ? -magnitude : magnitude;
}

TEST(PackedWeight, Float8WithScalesOfTensorsRowsAndBlocks) {
  struct Case {
    int64_t blockRows, blockColumns;
    std::vector<int64_t> scaleShape;
  };
  constexpr int64_t rows = 160, columns = 192;
  for (const Case& c :
       {Case{0, 0, {}}, {0, 0, {1}}, {1, 0, {160}}, {1, 0, {160, 1}}, {128, 64, {2, 3}}}) {
    Written written = writeFloat8(rows, columns, c.blockRows, c.blockColumns, c.scaleShape);
    absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
    ASSERT_THAT(weight, IsOk());
    EXPECT_EQ(weight->encoding().name, "e4m3_g64_f32");
    std::vector<double> values = decode(*weight);
    auto scales = reinterpret_cast<const float*>(written.bytes[Part::Scales].data());
    int64_t blockRows = c.blockRows ? c.blockRows : rows;
    int64_t blockColumns = c.blockColumns ? c.blockColumns : columns;
    int64_t groups = (columns + blockColumns - 1) / blockColumns;
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t k = 0; k < columns; ++k) {
        auto code = std::to_integer<uint8_t>(written.bytes[Part::Codes][n * columns + k]);
        double scale = scales[n / blockRows * groups + k / blockColumns];
        ASSERT_EQ(values[n * columns + k], scale * e4m3(code));
      }
  }
  // Blocks of 128 with a shorter one at each end.
  Written deepSeek = writeFloat8(200, 320, 128, 128, {2, 3});
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(deepSeek.request);
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ(weight->encoding().name, "e4m3_g64_f32");
}

TEST(PackedWeight, RefusesNaNs) {
  Written written = writeFloat8(2, 64, 0, 0, {1});
  written.bytes[Part::Codes][70] = std::byte{0xFF};
  written.refresh();
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
  ASSERT_THAT(weight, IsOk());
  std::vector<std::byte> bytes(weight->encoding().bytesFor(128));
  EXPECT_EQ(weight->repackRows(0, 2, bytes).message(),
            "test.safetensors: tensor 'codes' expects finite numbers, but got NaN in rows 0 to 1");
  float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(written.bytes[Part::Scales].data(), &infinity, 4);
  expectRefused(written,
                "tensor 'scales' expects finite scales, but that of row 0, group 0 is not");
}

constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};

/// Random pairs of codes, scales of one byte each below `leastScale` + `scales`.
Written writeFp4(Layout layout, int64_t rows, int64_t columns, uint8_t leastScale,
                 uint32_t scales) {
  Written written;
  written.request = {.file = "test.safetensors",
                     .format = {.layout = layout, .bits = 4},
                     .rows = rows,
                     .columns = columns,
                     .parts = {}};
  std::mt19937 random(9);
  std::vector<uint8_t> codes(rows * columns / 2);
  for (uint8_t& code : codes)
    code = static_cast<uint8_t>(random());
  bool isNvfp4 = layout == Layout::Nvfp4Packed;
  int64_t groups = columns / (isNvfp4 ? 16 : 32);
  std::vector<uint8_t> bytes(rows * groups);
  for (uint8_t& scale : bytes)
    scale = static_cast<uint8_t>(leastScale + random() % scales);
  std::vector<int64_t> shape = {rows, columns / 2};
  if (layout == Layout::Mxfp4Blocks)
    shape = {rows, groups, 16};
  written.add(Part::Codes, ElementType::U8, shape, codes);
  written.add(Part::Scales, isNvfp4 ? ElementType::F8E4M3 : ElementType::U8, {rows, groups}, bytes);
  if (isNvfp4)
    written.add(Part::TensorScale, ElementType::F32, {1}, std::vector<float>{768});
  return written;
}

/// Neighbouring codes of a row are the halves of a byte, the first the lower one.
double codeOf(const Written& written, int64_t i) {
  auto both = std::to_integer<uint8_t>(written.bytes.at(Part::Codes)[i / 2]);
  return e2m1[i % 2 == 0 ? both & 15 : both >> 4];
}

TEST(PackedWeight, Nvfp4WithTheScaleOfTheTensor) {
  constexpr int64_t rows = 6, columns = 256;
  Written written = writeFp4(Layout::Nvfp4Packed, rows, columns, 0, 0x7F);
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ(weight->encoding().name, "nvfp4_f32");
  std::vector<double> values = decode(*weight);
  double inverse = 1.0f / 768.0f;
  for (int64_t i = 0; i < rows * columns; ++i) {
    double scale = e4m3(std::to_integer<uint8_t>(written.bytes[Part::Scales][i / 16]));
    ASSERT_EQ(values[i], inverse * scale * codeOf(written, i)) << i;
  }
}

TEST(PackedWeight, Mxfp4InTwoContainers) {
  constexpr int64_t rows = 6, columns = 96;
  for (Layout layout : {Layout::Mxfp4Packed, Layout::Mxfp4Blocks}) {
    Written written = writeFp4(layout, rows, columns, 0, 0xFF);
    absl::StatusOr<PackedWeight> weight = PackedWeight::create(written.request);
    ASSERT_THAT(weight, IsOk());
    EXPECT_EQ(weight->encoding().name, "mxfp4");
    std::vector<double> values = decode(*weight);
    for (int64_t i = 0; i < rows * columns; ++i) {
      int exponent = std::to_integer<int>(written.bytes[Part::Scales][i / 32]) - 127;
      ASSERT_EQ(values[i], std::ldexp(codeOf(written, i), exponent)) << i;
    }
  }
}

TEST(PackedWeight, RefusesFp4ThatDoesNotFit) {
  auto nvfp4 = [] { return writeFp4(Layout::Nvfp4Packed, 4, 256, 1, 8); };
  auto mxfp4 = [] { return writeFp4(Layout::Mxfp4Packed, 4, 64, 1, 8); };
  Written wrong = nvfp4();
  wrong.bytes[Part::Scales][17] = std::byte{0x7F};
  expectRefused(wrong, "tensor 'scales' expects finite scales of at least 0, but that of row 1, "
                       "group 1 is byte 127");
  wrong.bytes[Part::Scales][17] = std::byte{0x81}; // below 0
  expectRefused(wrong, "group 1 is byte 129");
  wrong = mxfp4();
  wrong.bytes[Part::Scales][3] = std::byte{0xFF};
  expectRefused(wrong, "but that of row 1, group 1 is byte 255");
  for (float divisor : {0.0f, -1.0f, 1e-39f, 3e38f, std::numeric_limits<float>::quiet_NaN()}) {
    wrong = nvfp4();
    std::memcpy(wrong.bytes[Part::TensorScale].data(), &divisor, 4);
    expectRefused(wrong, "tensor 'global_scale' expects a divisor above 0 with a finite inverse");
  }
  wrong = nvfp4();
  wrong.part(Part::TensorScale).shape = {2};
  expectRefused(wrong, "tensor 'global_scale' expects 8 bytes for shape [2], but got 4");
  wrong = nvfp4();
  wrong.request.parts.pop_back();
  wrong.add(Part::TensorScale, ElementType::F32, {2}, std::vector<float>{1, 1});
  expectRefused(wrong, "tensor 'global_scale' expects one number, but got shape [2]");
  wrong = nvfp4();
  wrong.request.parts.pop_back();
  expectRefused(wrong, "expects a tensor of a scale of the tensor, but got none");
  wrong = mxfp4();
  wrong.add(Part::TensorScale, ElementType::F32, {1}, std::vector<float>{1});
  expectRefused(wrong, "expects a layout that has a scale of the tensor, but got one without");
  wrong = mxfp4();
  wrong.part(Part::Codes).shape = {4, 31};
  expectRefused(wrong, "tensor 'codes' expects 124 bytes for shape [4, 31], but got 128");
  wrong = mxfp4();
  wrong.part(Part::Scales).type = ElementType::I8;
  expectRefused(wrong, "tensor 'scales' expects elements of U8, but got I8");
  wrong = mxfp4();
  wrong.request.format.bits = 8;
  expectRefused(wrong, "expect codes of 4 bits, but got 8");
  wrong = mxfp4();
  wrong.request.columns = 48;
  expectRefused(wrong, "tensor 'codes' expects columns in whole groups of 32, but got 48");
  expectRefused(writeFp4(Layout::Nvfp4Packed, 4, 192, 1, 8),
                "tensor 'codes' expects rows of a multiple of 128 columns, but got 192");
}

TEST(PackedWeight, RepacksAnyRows) {
  Matrix m = makeMatrix(4, 200, 128, 64);
  Written written = writeAwqGemm(m);
  PackedWeight weight = *PackedWeight::create(written.request);
  std::vector<std::byte> all = repack(weight);
  size_t rowBytes = all.size() / 200;
  std::vector<std::byte> some(rowBytes * 90);
  ASSERT_THAT(weight.repackRows(70, 90, some), IsOk());
  EXPECT_TRUE(std::ranges::equal(some, std::span(all).subspan(70 * rowBytes, some.size())));
}

TEST(PackedWeight, RefusesWhatDoesNotFit) {
  Matrix m = makeMatrix(4, 16, 256, 64);
  Written wrong = writeGptq(m, true);
  wrong.part(Part::Codes).shape = {31, 16};
  expectRefused(wrong, "test.safetensors: tensor 'codes' expects 1984 bytes for shape [31, 16], "
                       "but got 2048");
  wrong = writeGptq(m, true);
  wrong.request.rows = 24;
  expectRefused(wrong, "tensor 'codes' expects shape [32, 24] for a weight of 24 x 256, but got "
                       "[32, 16]");
  wrong = writeGptq(m, true);
  wrong.part(Part::Scales).shape = {16, 4};
  expectRefused(wrong, "tensor 'scales' expects shape [4, 16]");
  wrong = writeGptq(m, true);
  wrong.part(Part::Scales).type = ElementType::F32;
  expectRefused(wrong, "tensor 'scales' expects elements of F16 or BF16, but got F32");
  wrong = writeGptq(m, true);
  std::erase_if(wrong.request.parts, [](const auto& part) { return part.part == Part::Zeros; });
  expectRefused(wrong, "expects a tensor of zeros, but got none");
  for (int32_t group : {-1, 4, std::numeric_limits<int32_t>::min()}) {
    wrong = writeGptq(m, true);
    wrong.setWord(Part::GroupIndex, 7, static_cast<uint32_t>(group));
    expectRefused(wrong, "tensor 'g_idx' expects groups in [0, 4), but got " +
                             std::to_string(group) + " for column 7");
  }
  wrong = writeGptq(m, true);
  wrong.setWord(Part::GroupIndex, 0, 1);
  expectRefused(wrong, "tensor 'g_idx' expects 64 columns in group 0, but got 63");
  wrong = writeGptq(m, true);
  wrong.request.format.bits = 5;
  expectRefused(wrong, "weights of this layout expect codes of 2, 3, 4, 8 bits, but got 5");
  wrong = writeGptq(m, true);
  wrong.request.format.groupSize = 0;
  expectRefused(wrong, "weights expect a group size of -1 or above 0, but got 0");
  wrong = writeGptq(m, true);
  wrong.part(Part::Codes).shape = {int64_t{1} << 40, int64_t{1} << 40};
  expectRefused(wrong, "expects a size within 63 bits");
  wrong = writeGptq(m, true);
  wrong.request.columns = -256;
  expectRefused(wrong, "expects from 1 to 2^31 rows and columns, but got 16 x -256");
  wrong = writeGptq(m, true);
  wrong.request.format.layout = static_cast<Layout>(77);
  expectRefused(wrong, "expects a known layout, but got number 77");
  Matrix narrow = makeMatrix(4, 16, 256, 16);
  expectRefused(writeGptq(narrow, true), "expects groups and rows of a multiple of 32 columns, but "
                                         "got groups of 16 and rows of 256");
  wrong = writeAwqGemm(m);
  wrong.request.format.groupSize = 96;
  expectRefused(wrong, "expects columns in whole groups of 96, but got 256");
  wrong = writeAwqGemm(m);
  wrong.add(Part::GroupIndex, ElementType::I32, {256}, m.groupOf);
  expectRefused(wrong, "tensor 'g_idx' expects a layout that has indices of groups, but got one");
  Matrix odd = makeMatrix(4, 12, 256, 64);
  expectRefused(writeAwqGemm(odd), "expects rows in whole words of 8, but got 12");
  expectRefused(writeGptq(odd, true), "expects rows and columns in whole words of 32 bits");
  Matrix short8 = makeMatrix(4, 16, 252, 252);
  expectRefused(writeAwqGemv(short8), "expects columns in whole words of 8, but got 252");
  Matrix of96 = makeMatrix(4, 16, 288, 96);
  expectRefused(writeAwqGemv(of96), "expects groups of 32, 64 or from 128 columns, but got 96");
  wrong = writePackQuantized(m);
  wrong.part(Part::Codes).shape = {32, 16};
  expectRefused(wrong, "tensor 'codes' expects shape [16, 32]");
  wrong = writeFloat8(16, 64, 0, 0, {2});
  expectRefused(wrong, "tensor 'scales' expects shape [1, 1]");
  wrong = writeFloat8(16, 64, -1, 0, {1});
  expectRefused(wrong,
                "expects blocks of at least one row and column, or 0 for all, but got -1 x 0");
}

/// Tensors of a safetensors file that is trusted.
struct Fixture {
  std::string bytes;
  nlohmann::json header;

  explicit Fixture(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    header = nlohmann::json::parse(bytes.substr(8, length));
    bytes.erase(0, 8 + length);
  }
  std::span<const std::byte> data(const std::string& name) const {
    const nlohmann::json& range = header[name]["data_offsets"];
    return std::as_bytes(std::span(bytes))
        .subspan(range[0], range[1].get<size_t>() - range[0].get<size_t>());
  }
  PartTensor part(Part part, const std::string& name) const {
    return {part, *findElementType(header[name]["dtype"].get<std::string>()),
            header[name]["shape"].get<std::vector<int64_t>>(), data(name), name};
  }
  std::vector<float> floats(const std::string& name) const {
    std::vector<float> values(data(name).size() / 4);
    std::memcpy(values.data(), data(name).data(), data(name).size());
    return values;
  }
};

// AutoGPTQ's own test of its CUDA kernel: 1024 x 1024, 4 bits, groups of 128.
TEST(PackedWeight, FixtureOfAutoGptq) {
  Fixture fixture(TENON_TEST_DATA "/gptq/autogptq_q4_1024.safetensors");
  WeightRequest request{.file = "fixture",
                        .format = {.layout = Layout::Gptq, .bits = 4, .groupSize = 128},
                        .rows = 1024,
                        .columns = 1024,
                        .parts = {fixture.part(Part::Codes, "linear.qweight"),
                                  fixture.part(Part::Zeros, "linear.qzeros"),
                                  fixture.part(Part::Scales, "linear.scales"),
                                  fixture.part(Part::GroupIndex, "linear.g_idx")}};
  absl::StatusOr<PackedWeight> weight = PackedWeight::create(request);
  ASSERT_THAT(weight, IsOk());
  std::vector<double> values = decode(*weight);
  std::vector<float> published = fixture.floats("expected_published");
  std::vector<float> exact = fixture.floats("expected_f64_as_f32");
  std::span<const std::byte> input = fixture.data("input");
  for (int64_t n = 0; n < 1024; ++n) {
    double sum = 0;
    for (int64_t k = 0; k < 1024; ++k) {
      uint16_t x;
      std::memcpy(&x, input.data() + 2 * k, 2);
      sum += f16ToF32(x) * values[n * 1024 + k];
    }
    ASSERT_EQ(static_cast<float>(sum), exact[n]) << n;
    ASSERT_NEAR(sum, published[n], 2e-2) << n;
  }
}

} // namespace
} // namespace tenon::containers::test
