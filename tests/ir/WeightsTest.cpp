#include "support/Fingerprint.h"
#include "tests/common/TempFolder.h"
#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Values = std::vector<double>;

/// The interpreter on a module whose file holds the f32 values 0, 1, … 7.
class WeightsTest : public IrTest {
protected:
  WeightsTest() {
    ReferenceTensor values = tensor("tensor<8xf32>", {0, 1, 2, 3, 4, 5, 6, 7});
    bytes = values.encode();
    folder.write("w.bin", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  /// A module with a weight of [4] in those ranges, and a function `f` that negates it.
  std::string text(const std::string& path, int64_t size, uint64_t fingerprint,
                   const std::string& ranges) {
    return "tenon.file @m \"" + path + "\" bytes " + std::to_string(size) + " fingerprint " +
           std::to_string(static_cast<int64_t>(fingerprint)) +
           "\ntenon.weight @w : tensor<4xf32> from [" + ranges +
           "]\nfunc.func @f() -> tensor<4xf32> { %w = tenon.get_weight @w : tensor<4xf32> "
           "%0 = tenon.neg %w : (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> }";
  }

  absl::StatusOr<Values> call(const std::string& moduleText, InterpreterOptions options) {
    auto module = parse(moduleText);
    auto interpreter = Interpreter::create(*module, std::move(options));
    EXPECT_THAT(interpreter, IsOk());
    absl::StatusOr<std::vector<ReferenceTensor>> results;
    for (int i = 0; i < 2; ++i) // the second time from what is kept
      results = (*interpreter)->run("f", {});
    if (!results.ok())
      return results.status();
    return (*results)[0].toVector();
  }

  const std::string one = "#tenon.range<@m, offset = 8, bytes = 16>";
  std::vector<std::byte> bytes;
  TempFolder folder;
};

TEST_F(WeightsTest, ReadsAWeightFromTheBaseFolder) {
  std::string module = text("w.bin", 32, fingerprintFile(bytes), one);
  auto result = call(module, {.baseFolder = folder.path("")});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, Values({-2, -3, -4, -5}));
}

TEST_F(WeightsTest, TakesAbsolutePathsAsTheyAre) {
  std::string module = text(folder.path("w.bin"), 32, fingerprintFile(bytes), one);
  EXPECT_THAT(call(module, {.baseFolder = "/nowhere"}), IsOk());
  EXPECT_THAT(call(module, {}), IsOk());
}

TEST_F(WeightsTest, GathersRangesInOrder) {
  std::string module = text("w.bin", 32, fingerprintFile(bytes),
                            "#tenon.range<@m, offset = 24, bytes = 8>, "
                            "#tenon.range<@m, offset = 0, bytes = 4>, "
                            "#tenon.range<@m, offset = 4, bytes = 4>");
  auto result = call(module, {.baseFolder = folder.path("")});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, Values({-6, -7, -0.0, -1}));
  EXPECT_THAT(call(module, {.baseFolder = folder.path(""), .maxElements = 3}),
              FailsWith(absl::StatusCode::kResourceExhausted, HasSubstr("tenon.get_weight at ")));
}

/// Of the matrices [[0, 1], [2, 3]] and [[4, 5], [6, 7]], and of one of three rows in two ranges.
TEST_F(WeightsTest, LaysTransposedWeightsOut) {
  auto read = [&](const std::string& type, const std::string& ranges) {
    std::string module = "tenon.file @m \"w.bin\" bytes 32 fingerprint " +
                         std::to_string(static_cast<int64_t>(fingerprintFile(bytes))) +
                         "\ntenon.weight @w : " + type + " transposed from [" + ranges +
                         "]\nfunc.func @f() -> " + type + " { %w = tenon.get_weight @w : " + type +
                         " return %w : " + type + " }";
    return call(module, {.baseFolder = folder.path("")});
  };
  auto result = read("tensor<2x2x2xf32>", "#tenon.range<@m, offset = 0, bytes = 32>");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, Values({0, 2, 1, 3, 4, 6, 5, 7}));
  result = read("tensor<2x3xf32>", "#tenon.range<@m, offset = 8, bytes = 12>, "
                                   "#tenon.range<@m, offset = 20, bytes = 12>");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, Values({2, 4, 6, 3, 5, 7}));
}

TEST_F(WeightsTest, RefusesAFileOfAnotherSize) {
  std::string module = text("w.bin", 31, fingerprintFile(bytes), one);
  EXPECT_THAT(
      call(module, {.baseFolder = folder.path("")}),
      FailsWith(absl::StatusCode::kFailedPrecondition,
                AllOf(HasSubstr("function 'f': tenon.get_weight at "),
                      HasSubstr("w.bin: expects the 31 bytes that @m states, but got 32"))));
}

TEST_F(WeightsTest, RefusesAFileOfAnotherFingerprint) {
  std::string module = text("w.bin", 32, fingerprintFile(bytes) + 1, one);
  EXPECT_THAT(call(module, {.baseFolder = folder.path("")}),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("w.bin: expects the fingerprint ")));
}

TEST_F(WeightsTest, RefusesAMissingFile) {
  EXPECT_THAT(call(text("x.bin", 32, 0, one), {.baseFolder = folder.path("")}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("x.bin")));
}

} // namespace
} // namespace tenon::tests
