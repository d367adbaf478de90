// One key among 16,384 in caches of E4M3 whose products with the query are far larger than what tells
// it from the others: sums in f32 find it, those of the tensor cores' E4M3 products do not.
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "codegen/cuda/CompileForCuda.h"
#include "ir/encoding/Float16.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

using frontends::GraphBuilder;
using frontends::Value;

constexpr int64_t count = 16'384, needle = 11'000, size = 128;
constexpr int64_t large = 32; ///< elements of a head's begin and end, whose products cancel

/// Signs times `magnitude` in the middle of each head, `large` elements of `ends` around them.
std::vector<double> makeHeads(std::mt19937& random, double magnitude, double ends) {
  std::vector<double> heads(count * size, ends);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t d = large; d < size - large; ++d)
      heads[i * size + d] = random() % 2 ? magnitude : -magnitude;
  return heads;
}

/// A product of E4M3 numbers as Hopper's tensor cores add it up: of 32 terms and the sum so far the bits
/// from the largest one's first to the 14th (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2).
double shortSum(const double* a, const double* b) {
  constexpr int64_t terms = 32;
  constexpr int bits = 14;
  double sum = 0;
  for (int64_t first = 0; first < size; first += terms) {
    double most = std::fabs(sum);
    for (int64_t d = first; d < first + terms; ++d)
      most = std::max(most, std::fabs(a[d] * b[d]));
    const double unit = most > 0 ? std::exp2(std::ilogb(most) - bits + 1) : 1;
    double units = std::trunc(sum / unit);
    for (int64_t d = first; d < first + terms; ++d)
      units += std::trunc(a[d] * b[d] / unit);
    sum = units * unit;
  }
  return sum;
}

double exactSum(const double* a, const double* b) {
  double sum = 0;
  for (int64_t d = 0; d < size; ++d)
    sum += a[d] * b[d];
  return sum;
}

/// How large a part of what attention gives is the needle's value.
double weightOfNeedle(const std::vector<double>& query, const std::vector<double>& keys,
                      double (*product)(const double*, const double*)) {
  double sum = 0, ofNeedle = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double weight = std::exp(product(query.data(), keys.data() + i * size));
    sum += weight;
    ofNeedle = i == needle ? weight : ofNeedle;
  }
  return ofNeedle / sum;
}

class NeedleGpuTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NeedleGpuTest, IsFoundAmong16384Keys) {
  std::mt19937 random(5);
  const std::vector<double> keys = makeHeads(random, 0.25, 448);
  std::vector<double> values(count * size);
  for (double& value : values)
    value = random() % 2 ? 1 : -1;
  std::vector<double> query(size, 1.0); // looks for the needle's signs
  for (int64_t d = large; d < size - large; ++d)
    query[d] = keys[needle * size + d] > 0 ? 1 : -1;
  std::fill(query.end() - large, query.end(), -1.0);
  EXPECT_GT(weightOfNeedle(query, keys, exactSum), 0.95);
  EXPECT_LT(weightOfNeedle(query, keys, shortSum), 0.001);

  std::vector<double> places(count);
  for (int64_t i = 0; i < count; ++i)
    places[i] = static_cast<double>(i);
  const std::string type = GetParam();
  const CudaCase testCase = {"needle",
                             {{{1, 1, size}, type, Fill::Listed, 0, 0, query},
                              {{count, 1, size}, type, Fill::Listed, 0, 0, keys},
                              {{count, 1, size}, type, Fill::Listed, 0, 0, values},
                              {{1}, "i32", Fill::Listed, 0, 0, {0}},
                              {{count}, "i32", Fill::Listed, 0, 0, places},
                              {{1}, "i32", Fill::Listed, 0, 0, {double(count - 1)}}},
                             type,
                             [](GraphBuilder& b, const std::vector<Value>& x) {
                               b.output("y",
                                        b.attention(x[0], b.kvWrite(x[1], x[3], x[4], b.state("k")),
                                                    b.kvWrite(x[2], x[3], x[4], b.state("v")), x[3],
                                                    x[5], {.scale = 1}));
                             },
                             0,
                             /*warpgroups=*/true,
                             CaseCache{{1, count, 1, size}, "e4m3_h128"}};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = planCase(context, testCase, "h200");
  ASSERT_TRUE(module.ok()) << module.status();
  auto program = codegen::compileForCuda(**module, {});
  ASSERT_TRUE(program.ok()) << program.status();
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_TRUE(executor.ok()) << executor.status();
  auto outputs = runOnDevice(**executor, makeInputs(context, testCase.inputs));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  double farthest = 0;
  for (int64_t d = 0; d < size; ++d) {
    uint16_t bits;
    std::memcpy(&bits, outputs->front().data() + d * sizeof(bits), sizeof(bits));
    const double found = type == "f16" ? f16ToF32(bits) : bf16ToF32(bits);
    farthest = std::max(farthest, std::fabs(found - values[needle * size + d]));
  }
  EXPECT_LT(farthest, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Types, NeedleGpuTest, ::testing::Values("f16", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::testing
