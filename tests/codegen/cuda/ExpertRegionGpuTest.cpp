// Regions of mixtures of experts.
#include <limits>

#include "CompareOnDevice.h"
#include "RegionCases.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// Gate and up of the experts that rows choose, some of none; and a whole mixture.
const RegionCase expertCases[] = {
    {"gated_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx2xi32>, %g: tensor<4xNxKxW>, %u: tensor<4xNxKxW>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<MxKxT>, %i = %s : tensor<Mx2xi32>,
                     %b = %g : tensor<4xNxKxW>, %c = %u : tensor<4xNxKxW>) -> tensor<Mx2xNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %2 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %3 = tenon.glu silu %1, %2 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    tenon.yield %3 : tensor<Mx2xNxT>
  }
  return %y : tensor<Mx2xNxT>)",
     "tensor<Mx2xNxT>"},
    {"summed_experts",
     "%x: tensor<Mx3xKxT>, %r: tensor<MxNxT>, %s: tensor<Mx3xi32>, %w: tensor<Mx3xf32>, "
     "%d: tensor<40xNxKxW>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<Mx3xKxT>, %i = %s : tensor<Mx3xi32>,
                     %b = %d : tensor<40xNxKxW>, %c = %w : tensor<Mx3xf32>,
                     %e = %r : tensor<MxNxT>) -> tensor<MxNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<Mx3xKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %2 = tenon.weighted_sum %1, %c : (tensor<Mx3xNxT>, tensor<Mx3xf32>) -> tensor<MxNxT>
    %3 = tenon.add %e, %2 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %3 : tensor<MxNxT>
  }
  return %y : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"chosen_experts", "%x: tensor<MxKxf32>",
     R"(
  %y:3 = tenon.kernel (%a = %x : tensor<MxKxf32>)
      -> (tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>) {
    %1 = tenon.softmax %a : (tensor<MxKxf32>) -> tensor<MxKxf32>
    %v, %i = tenon.top_k %1 k COLUMNS
        : (tensor<MxKxf32>) -> (tensor<MxNxf32>, tensor<MxNxi32>)
    %2 = tenon.reduce sum %v : (tensor<MxNxf32>) -> tensor<Mx1xf32>
    %3 = tenon.div %v, %2 : (tensor<MxNxf32>, tensor<Mx1xf32>) -> tensor<MxNxf32>
    tenon.yield %v, %i, %3 : tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>
  }
  return %y#0, %y#1, %y#2 : tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>)",
     "tensor<MxNxf32>, tensor<MxNxi32>, tensor<MxNxf32>"},
    {"biased_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx2xi32>, %g: tensor<4xNxKxW>, %u: tensor<4xNxKxW>, "
     "%p: tensor<4xNxf32>, %q: tensor<4xNxf32>",
     R"(
  %y = tenon.kernel (%a = %x : tensor<MxKxT>, %i = %s : tensor<Mx2xi32>,
                     %b = %g : tensor<4xNxKxW>, %c = %u : tensor<4xNxKxW>,
                     %d = %p : tensor<4xNxf32>, %e = %q : tensor<4xNxf32>) -> tensor<Mx2xNxT> {
    %1 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %2 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<4xNxKxW>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %3 = tenon.embedding %d, %i : (tensor<4xNxf32>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %4 = tenon.embedding %e, %i : (tensor<4xNxf32>, tensor<Mx2xi32>) -> tensor<Mx2xNxT>
    %5 = tenon.add %1, %3 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    %6 = tenon.add %2, %4 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    %7 = tenon.mul %5, %6 : (tensor<Mx2xNxT>, tensor<Mx2xNxT>) -> tensor<Mx2xNxT>
    tenon.yield %7 : tensor<Mx2xNxT>
  }
  return %y : tensor<Mx2xNxT>)",
     "tensor<Mx2xNxT>"},
    {"choosing_experts",
     "%x: tensor<MxKxT>, %s: tensor<Mx40xf32>, %g: tensor<40xNxKxW>, %u: tensor<40xNxKxW>, "
     "%p: tensor<40xNxf32>",
     R"(
  %y:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %t = %s : tensor<Mx40xf32>,
                       %b = %g : tensor<40xNxKxW>, %c = %u : tensor<40xNxKxW>,
                       %d = %p : tensor<40xNxf32>)
      -> (tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>) {
    %1 = tenon.softmax %t : (tensor<Mx40xf32>) -> tensor<Mx40xf32>
    %v, %i = tenon.top_k %1 k 3 : (tensor<Mx40xf32>) -> (tensor<Mx3xf32>, tensor<Mx3xi32>)
    %2 = tenon.reduce sum %v : (tensor<Mx3xf32>) -> tensor<Mx1xf32>
    %3 = tenon.div %v, %2 : (tensor<Mx3xf32>, tensor<Mx1xf32>) -> tensor<Mx3xf32>
    %4 = tenon.expert_matmul %a, %b, %i
        : (tensor<MxKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %5 = tenon.expert_matmul %a, %c, %i
        : (tensor<MxKxT>, tensor<40xNxKxW>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %6 = tenon.embedding %d, %i : (tensor<40xNxf32>, tensor<Mx3xi32>) -> tensor<Mx3xNxT>
    %7 = tenon.add %4, %6 : (tensor<Mx3xNxT>, tensor<Mx3xNxT>) -> tensor<Mx3xNxT>
    %8 = tenon.glu silu %7, %5 : (tensor<Mx3xNxT>, tensor<Mx3xNxT>) -> tensor<Mx3xNxT>
    tenon.yield %8, %i, %3 : tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>
  }
  return %y#0, %y#1, %y#2 : tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>)",
     "tensor<Mx3xNxT>, tensor<Mx3xi32>, tensor<Mx3xf32>"},
};

/// Of equal shares the lowest index comes first, also of those that are 0 beside others, and of NaN,
/// as every share of a row is that has one; so do the kernels of the operations one by one.
TEST(CudaRegion, ChoosesAmongEqualSharesAndNan) {
  constexpr int64_t rows = 5, experts = 60, chosen = 6;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::string text = textOf({&expertCases[2], "f32", rows, chosen, experts});
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> fusedModule, splitModule;
  auto fused = compileRegion(context, text, passes::Plan::Fused, fusedModule);
  ASSERT_TRUE(fused.ok()) << fused.status();
  auto split = compileRegion(context, text, passes::Plan::Split, splitModule);
  ASSERT_TRUE(split.ok()) << split.status();
  auto fusedExecutor = runtime::CudaExecutor::create(*std::move(fused), {});
  if (absl::IsNotFound(fusedExecutor.status()))
    GTEST_SKIP() << "no GPU: " << fusedExecutor.status();
  ASSERT_TRUE(fusedExecutor.ok()) << fusedExecutor.status();
  auto splitExecutor = runtime::CudaExecutor::create(*std::move(split), {});
  ASSERT_TRUE(splitExecutor.ok()) << splitExecutor.status();

  CaseInput scores = {{rows, experts}, "f32", Fill::Listed};
  for (int64_t i = 0; i < rows * experts; ++i) {
    int64_t column = i % experts;
    double ofRow[] = {0.25, static_cast<double>(column * 7 % 11), -infinity,
                      column == 9 ? 1.0 : -3e4, static_cast<double>(column)};
    scores.values.push_back(ofRow[i / experts]);
  }
  scores.values[2 * experts + 37] = scores.values[2 * experts + 11] = -2.0;
  scores.values[4 * experts + 5] = std::numeric_limits<double>::quiet_NaN();
  std::vector<ReferenceTensor> inputs = makeInputs(context, {scores});
  auto fusedOutputs = runOnDevice(**fusedExecutor, inputs);
  ASSERT_TRUE(fusedOutputs.ok()) << fusedOutputs.status();
  auto splitOutputs = runOnDevice(**splitExecutor, inputs);
  ASSERT_TRUE(splitOutputs.ok()) << splitOutputs.status();
  auto interpreter = Interpreter::create(*fusedModule);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  auto expected = (*interpreter)->run("f", inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  expectClose((*expected)[1], (*fusedOutputs)[1], 0, "indices");
  EXPECT_EQ((*fusedOutputs)[1], (*splitOutputs)[1]);
  for (size_t result : {0, 2}) {
    expectClose((*expected)[result], (*fusedOutputs)[result], toleranceOf("f32"), "shares");
    constexpr size_t numbers = 4 * (rows - 1) * chosen; // bytes before the row of NaN
    EXPECT_TRUE(std::equal((*fusedOutputs)[result].begin(),
                           (*fusedOutputs)[result].begin() + numbers,
                           (*splitOutputs)[result].begin()));
  }
}

std::vector<RegionParameters> expertRegions() {
  std::vector<RegionParameters> all;
  const auto& [gated, summed, chosen, biased, choosing] = expertCases;
  for (auto [rows, count, experts] : {std::tuple{1, 8, 128}, {5, 6, 60}, {3, 1, 8}, {2, 32, 512}})
    all.push_back({&chosen, "f32", rows, count, experts});
  for (const char* type : {"f32", "f16", "bf16"}) {
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}, {70, 72, 100}})
      all.push_back({&gated, type, rows, columns, depth});
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 768}, {3, 46, 264}})
      all.push_back({&summed, type, rows, columns, depth});
  }
  // On tensor cores, the second row of each of a depth whose rows in q6_k no copy brings alone.
  for (auto [blocks, type] : {std::pair{"q4_k", "f16"},
                              {"q6_k", "bf16"},
                              {"q8_0", "bf16"},
                              {"mxfp4", "f16"},
                              {"int4_g128_f16_zero", "f16"}}) {
    for (auto [rows, columns, depth] : {std::tuple{1, 304, 2048}, {1, 72, 768}})
      all.push_back({&gated, type, rows, columns, depth, blocks});
    for (auto [rows, columns, depth] : {std::tuple{1, 304, 1024}, {3, 48, 768}})
      all.push_back({&summed, type, rows, columns, depth, blocks});
  }
  // Rows of 1,530 bytes, of which copies bring some of those beside them, too.
  for (const char* type : {"f16", "bf16"}) {
    all.push_back({&gated, type, 1, 48, 2880, "mxfp4"});
    all.push_back({&summed, type, 2, 80, 2880, "mxfp4"});
    all.push_back({&biased, type, 1, 48, 2880, "mxfp4"});
    all.push_back({&choosing, type, 2, 48, 2880, "mxfp4"});
    all.push_back({&choosing, type, 1, 304, 768, "q4_k"});
  }
  // Rows that share experts, whose tiles are 64 columns of gate and of up.
  for (auto [weight, type, depth] : {std::tuple{"", "f16", 104},
                                     {"", "bf16", 264},
                                     {"q4_k", "f16", 768},
                                     {"mxfp4", "bf16", 2880}}) {
    all.push_back({&gated, type, 70, 71, depth, weight});
    all.push_back({&biased, type, 300, 136, depth, weight});
  }
  for (const char* type : {"f32", "f16"})
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}})
      all.push_back({&choosing, type, rows, columns, depth});
  for (const char* type : {"f32", "bf16"})
    for (auto [rows, columns, depth] : {std::tuple{1, 301, 2048}, {3, 45, 264}, {70, 72, 100}})
      all.push_back({&biased, type, rows, columns, depth});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Experts, CudaRegionTest, ::testing::ValuesIn(expertRegions()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
