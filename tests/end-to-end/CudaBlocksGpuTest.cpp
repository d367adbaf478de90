// Blocks of models in primitives on a GPU, against PyTorch.
#include <gtest/gtest.h>

#include "runtime/cuda/CudaExecutor.h"
#include "tests/common/StatusMatchers.h"
#include "tests/end-to-end/Blocks.h"

namespace tenon::tests {
namespace {

class CudaBlocks : public testing::TestWithParam<BlockCase> {};

TEST_P(CudaBlocks, EqualPyTorch) {
  auto program = compileBlock(GetParam(), "h200");
  ASSERT_THAT(program, IsOk());
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, IsOk());
  expectBlock(**executor, GetParam().block);
}

INSTANTIATE_TEST_SUITE_P(All, CudaBlocks, testing::ValuesIn(blockCases()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::tests
