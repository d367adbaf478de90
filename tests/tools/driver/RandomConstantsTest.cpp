#include "tools/driver/RandomConstants.h"

#include <cmath>

#include "ir/encoding/Encoding.h"
#include "runtime/program/RandomValues.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tools {
namespace {

using runtime::Constant;
using runtime::FileRange;
using runtime::Program;
using runtime::RandomRange;
using ::testing::HasSubstr;

Constant fromFile(const std::string& name, const std::string& encoding, std::vector<int64_t> shape,
                  uint64_t bytes) {
  return {name, encoding, std::move(shape), bytes, std::vector<FileRange>{{0, 64, bytes}}};
}

const RandomRange& rangeOf(const Program& program, size_t index) {
  return std::get<std::vector<RandomRange>>(program.constants[index].source).at(0);
}

TEST(RandomConstants, ReplaceWhatComesFromFiles) {
  Program program;
  program.files = {{"model.gguf", 1 << 20, 1}};
  program.constants = {
      fromFile("a", "f16", {40, 300}, 24000),
      fromFile("b.bias", "f32", {40}, 160),
      fromFile("b.weight", "f32", {40}, 160),
      {"constant0", "f32", {1}, 4, runtime::SharedBytes(std::vector<std::byte>(4))}};
  program.constants[0].transposed = true;
  ASSERT_THAT(randomizeConstants(program, 5), tests::IsOk());
  EXPECT_TRUE(program.files.empty());
  EXPECT_FALSE(program.constants[0].transposed);
  // The hash of "a" as RFC 9923's test vectors have it.
  EXPECT_EQ(rangeOf(program, 0),
            (RandomRange{24000, 5 + 0xaf63dc4c8601ec8c, 0, std::sqrt(3.0f / 300)}));
  EXPECT_EQ(rangeOf(program, 1).mean, 0);
  EXPECT_FLOAT_EQ(rangeOf(program, 1).scale, 0.02f * std::sqrt(3.0f));
  EXPECT_EQ(rangeOf(program, 2).mean, 1);
  EXPECT_FLOAT_EQ(rangeOf(program, 2).scale, 0.05f * std::sqrt(3.0f));
  EXPECT_NE(rangeOf(program, 1).seed, rangeOf(program, 2).seed);
  EXPECT_TRUE(std::holds_alternative<runtime::SharedBytes>(program.constants[3].source));
}

TEST(RandomConstants, HaveTheDeviationOfAMatrix) {
  Program program;
  program.constants = {fromFile("w", "f32", {100, 400}, 160000)};
  ASSERT_THAT(randomizeConstants(program, 1), tests::IsOk());
  std::vector<float> values(40000);
  runtime::fillRandomValues(rangeOf(program, 0), "f32", std::as_writable_bytes(std::span(values)));
  double squares = 0;
  for (float value : values)
    squares += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(squares / 40000), 1 / std::sqrt(400.0), 5e-4); // two standard errors
}

/// Quants of two's complement lie half a step below 0.
TEST(RandomConstants, BlocksHaveMeanAndDeviation) {
  int formats = 0;
  for (const Encoding* encoding : allEncodings()) {
    if (!encoding->isBlockQuantized() || encoding->ggufType < 0) // those of activations
      continue;
    ++formats;
    constexpr size_t count = 1 << 18;
    std::vector<std::byte> bytes(encoding->bytesFor(count));
    runtime::fillRandomValues({bytes.size(), 11, 0, std::sqrt(3.0f)}, encoding->name, bytes);
    std::vector<double> values(count);
    encoding->decode(bytes, values);
    double sum = 0, squares = 0;
    for (double value : values)
      sum += value, squares += value * value;
    EXPECT_NEAR(sum / count, 0, 0.13) << encoding->name;
    // Scales that are powers of two stand for the nearest of them: √(8.5625) / 4.
    double deviation = encoding->name == "mxfp4" ? 0.7315 : 1;
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.03) << encoding->name;
  }
  EXPECT_EQ(formats, 13);
}

TEST(RandomConstants, RefuseWhatHasNoRandomValues) {
  Program program;
  program.constants = {fromFile("blk.0.attn_q.weight", "i32", {4, 32}, 512)};
  EXPECT_THAT(randomizeConstants(program, 1),
              tests::FailsWith(absl::StatusCode::kInvalidArgument,
                               HasSubstr("'blk.0.attn_q.weight' expects an encoding that random "
                                         "values have, but got i32")));
}

} // namespace
} // namespace tenon::tools
