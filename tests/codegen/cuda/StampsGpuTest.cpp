// Kernels that stamp, on a GPU: the same bits, and stamps of every block in an order that a block can
// have.
#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "codegen/cuda/CompileForCuda.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"
#include "support/Status.h"

namespace tenon::testing {
namespace {

absl::StatusOr<std::unique_ptr<runtime::CudaExecutor>> load(mlir::ModuleOp planned, bool stamps) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         codegen::compileForCuda(planned, {.stamps = stamps}));
  return runtime::CudaExecutor::create(std::move(program), {});
}

void expectStamps(runtime::CudaExecutor& executor) {
  auto stamps = executor.readStamps(0);
  ASSERT_TRUE(stamps.ok()) << stamps.status();
  const std::vector<runtime::Step>& steps = executor.program().functions[0].steps;
  ASSERT_EQ(stamps->size(), steps.size());
  for (size_t step = 0; step < steps.size(); ++step) {
    ASSERT_EQ(stamps->at(step).size(), static_cast<size_t>(steps[step].tiles));
    bool waits = false;
    for (const runtime::BlockStamps& block : stamps->at(step)) {
      EXPECT_GT(block.entryNs, 0u);
      EXPECT_GE(block.exitNs, block.entryNs);
      if (block.waitNs == 0)
        continue;
      waits = true;
      EXPECT_GE(block.waitNs, block.entryNs);
      EXPECT_LE(block.waitNs, block.exitNs);
    }
    EXPECT_TRUE(waits) << "step " << step;
  }
}

class CudaStampsGpuTest : public ::testing::TestWithParam<CudaCase> {};

TEST_P(CudaStampsGpuTest, ChangeNoBitAndAreComplete) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = planCase(context, GetParam(), "h200");
  ASSERT_TRUE(module.ok()) << module.status();
  auto plain = load(**module, false);
  if (absl::IsNotFound(plain.status()))
    GTEST_SKIP() << "no GPU: " << plain.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  auto stamping = load(**module, true);
  ASSERT_TRUE(stamping.ok()) << stamping.status();
  std::vector<ReferenceTensor> inputs = makeInputs(context, GetParam().inputs);
  for (int call = 0; call < 2; ++call) {
    auto expected = runOnDevice(**plain, inputs);
    auto found = runOnDevice(**stamping, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*expected, *found);
    expectStamps(**stamping);
  }
}

/// Every seventh case: some of each emitter.
std::vector<CudaCase> stampedCases() {
  std::vector<CudaCase> chosen;
  for (size_t i = 0; i < allCudaCases().size(); i += 7)
    chosen.push_back(allCudaCases()[i]);
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaStampsGpuTest, ::testing::ValuesIn(stampedCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::testing
