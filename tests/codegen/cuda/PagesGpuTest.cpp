// Pages change where heads lie, and nothing of what is computed: equal to dense caches in every bit.
#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "codegen/cuda/CompileForCuda.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"
#include "tests/codegen/cuda/AttentionCases.h"

namespace tenon::testing {
namespace {

class CudaPagesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaPagesTest, EqualDenseCachesInEveryBit) {
  auto [dense, paged] = denseAndPaged(GetParam());
  std::vector<std::vector<std::vector<std::byte>>> results;
  for (const CudaCase& testCase : {dense, paged}) {
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
    results.push_back(*outputs);
  }
  EXPECT_EQ(results[0], results[1]);
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaPagesTest,
                         ::testing::Values("f32", "f32_16", "f16", "int8", "e4m3", "window",
                                           "rows_f16", "rows_bf16", "chunks_f16", "chunks_bf16",
                                           "chunk_f16", "chunk_bf16", "chunk_wide", "chunk_scored"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::testing
