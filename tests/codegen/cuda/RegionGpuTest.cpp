// Kernels of regions against kernels of their operations, and against the interpreter.
#include "CompareOnDevice.h"
#include "RegionCases.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {

TEST_P(CudaRegionTest, EqualsItsOperationsOneByOneInEveryBit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text = textOf(GetParam());
  mlir::OwningOpRef<mlir::ModuleOp> fusedModule, splitModule;
  auto fused = compileRegion(context, text, passes::Plan::Fused, fusedModule);
  ASSERT_TRUE(fused.ok()) << fused.status() << text;
  auto split = compileRegion(context, text, passes::Plan::Split, splitModule);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_LT(fused->functions[0].steps.size(), split->functions[0].steps.size());
  auto fusedExecutor = runtime::CudaExecutor::create(*std::move(fused), {});
  if (absl::IsNotFound(fusedExecutor.status()))
    GTEST_SKIP() << "no GPU: " << fusedExecutor.status();
  ASSERT_TRUE(fusedExecutor.ok()) << fusedExecutor.status();
  auto splitExecutor = runtime::CudaExecutor::create(*std::move(split), {});
  ASSERT_TRUE(splitExecutor.ok()) << splitExecutor.status();

  std::vector<CaseInput> described;
  for (const runtime::Port& port : (*fusedExecutor)->program().functions[0].inputs)
    if (GetParam().isPaged && port.shape == std::vector<int64_t>{3, 3})
      described.push_back({port.shape, "i32", Fill::Listed, 0, 0, {8, 3, 5, 1, 9, 2, 4, 0, 7}});
    else
      described.push_back({port.shape, port.encoding,
                           port.encoding == "i32"   ? Fill::Index
                           : port.shape.size() == 2 ? Fill::Small
                                                    : Fill::Gaussian,
                           -1, 3});
  std::vector<ReferenceTensor> inputs = makeInputs(context, described);
  auto fusedOutputs = runOnDevice(**fusedExecutor, inputs);
  ASSERT_TRUE(fusedOutputs.ok()) << fusedOutputs.status();
  auto splitOutputs = runOnDevice(**splitExecutor, inputs);
  ASSERT_TRUE(splitOutputs.ok()) << splitOutputs.status();
  auto interpreter = Interpreter::create(*fusedModule);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  auto expected = (*interpreter)->run("f", inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (auto [index, want] : llvm::enumerate(*expected)) {
    EXPECT_EQ((*fusedOutputs)[index], (*splitOutputs)[index]) << "result " << index;
    expectClose(want, (*fusedOutputs)[index], toleranceOf(GetParam().type),
                "result " + std::to_string(index));
  }
}

} // namespace tenon::testing
