// Blocks of models in primitives on the CPU and by the interpreter, against PyTorch.
#include <gtest/gtest.h>

#include "runtime/cpu/CpuExecutor.h"
#include "tests/common/StatusMatchers.h"
#include "tests/end-to-end/Blocks.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

class CpuBlocks : public testing::TestWithParam<BlockCase> {};

TEST_P(CpuBlocks, EqualPyTorch) {
  auto program = compileBlock(GetParam(), "cpu");
  ASSERT_THAT(program, IsOk());
  auto executor = runtime::CpuExecutor::create(*std::move(program), {.threads = 2});
  ASSERT_THAT(executor, IsOk());
  expectBlock(**executor, GetParam().block);
}

INSTANTIATE_TEST_SUITE_P(All, CpuBlocks, testing::ValuesIn(blockCases()),
                         [](const auto& info) { return nameOf(info.param); });

class ReferenceBlocks : public testing::TestWithParam<const char*> {};

TEST_P(ReferenceBlocks, EqualPyTorch) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(*context, {.path = blockPath(GetParam())});
  ASSERT_THAT(module, IsOk());
  auto executor = tools::ReferenceExecutor::create(**module);
  ASSERT_THAT(executor, IsOk());
  expectBlock(**executor, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceBlocks, testing::ValuesIn(blockNames),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::tests
