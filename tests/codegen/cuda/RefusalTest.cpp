// Schedules and regions that no emitter computes: damaged thus, each says this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Refusals.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/codegen/cuda/SourceText.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::testing {

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

std::string nameOf(const ::testing::TestParamInfo<Refusal>& info) { return info.param.name; }

std::string f16(std::initializer_list<int> shape) {
  return absl::StrCat("tensor<", absl::StrJoin(shape, "x"), "xf16>");
}

std::string matmul(int rows, int k, int n, const char* input, const char* order) {
  return absl::StrFormat(
      "%%r = tenon.matmul %s, %%b %s : (tensor<%dx%dxf16>, tensor<%dx%dxf16>) -> "
      "tensor<%dx%dxf16>",
      input, order, rows, k, n, k, rows, n);
}

std::string norm(int rows, int k, const char* order) {
  return absl::StrFormat("%%n = tenon.rms_norm %%a eps 1.0e-5 order <%s, tree = halving> : "
                         "(tensor<%dx%dxf16>) -> tensor<%dx%dxf16>\n",
                         order, rows, k, rows, k);
}

namespace {

using ::tenon::tests::FailsWith;
using ::testing::HasSubstr;

/// A scheduled module of one kernel.
std::string textOf(const Refusal& refusal) {
  std::vector<std::string> inputs, bindings;
  for (size_t i = 0; i < refusal.arguments.size(); ++i) {
    std::string name(1, static_cast<char>('a' + i));
    inputs.push_back(absl::StrCat("%x", name, ": ", refusal.arguments[i]));
    bindings.push_back(absl::StrCat("%", name, " = %x", name, " : ", refusal.arguments[i]));
  }
  std::string results = absl::StrCat("(", absl::StrJoin(refusal.results, ", "), ")");
  bool isOne = refusal.results.size() == 1;
  std::string types = absl::StrJoin(refusal.results, ", ");
  return absl::StrCat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = [")",
      refusal.feature, R"("], {sms = 132 : i64}>} {
  func.func @f()",
      absl::StrJoin(inputs, ", "), ") -> ", results, " {\n", isOne ? "%0" : "%0:2",
      " = tenon.kernel (", absl::StrJoin(bindings, ", "), ") -> ", isOne ? types : results,
      " schedule #tenon.schedule<\"", refusal.emitter, "\", ", refusal.parameters, "> {\n",
      refusal.body, "\ntenon.yield ", isOne ? "%r" : "%r, %n", " : ", types, "\n}\nreturn ",
      isOne ? "%0" : "%0#0, %0#1", " : ", types, "\n}\n}\n");
}

TEST_P(CudaRefusals, NamesWhatItExpects) {
  EXPECT_THAT(printText(textOf(GetParam())),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Elementwise, CudaRefusals,
    ::testing::Values(
        Refusal{"PatchesThatAWindowCuts",
                "patches",
                "tiles = 1, {threads = 128 : i64, vector = 4 : i64}",
                {f16({1, 2, 8})},
                {f16({1, 3, 8})},
                "%r = tenon.patches %a window [4] strides [2] low [0] high [0] : "
                "(tensor<1x2x8xf16>) -> tensor<1x3x8xf16>",
                "expects a vector of a power of two up to 2 elements, which neither windows nor "
                "edges cut, but got 4"},
        Refusal{
            "ResultsOfTwoShapes",
            "elementwise",
            "tiles = 4, {threads = 32 : i64, vector = 8 : i64, row_elements = 256 : i64}",
            {f16({4, 256}), f16({256})},
            {f16({4, 256}), f16({256})},
            std::string(exponential) + "\n%n = tenon.exp %b : (tensor<256xf16>) -> tensor<256xf16>",
            "expects results of one shape for the emitter elementwise, but got 'tensor<256xf16>'"}),
    nameOf);

} // namespace
} // namespace tenon::testing
