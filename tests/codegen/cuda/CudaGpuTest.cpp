#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "codegen/cuda/CompileForCuda.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

class CudaGpuTest : public ::testing::TestWithParam<CudaCase> {};

/// Runs the program twice on the device and compares with the interpreter.
void compareOnDevice(const CudaCase& testCase, mlir::ModuleOp planned,
                     runtime::CudaExecutor& executor) {
  std::vector<ReferenceTensor> inputs = makeInputs(*planned.getContext(), testCase.inputs);
  auto interpreter = Interpreter::create(planned);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  for (int call = 0; call < 2; ++call) {
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto outputs = runOnDevice(executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (auto [index, want] : llvm::enumerate(*expected))
      expectClose(want, (*outputs)[index], testCase.tolerance,
                  executor.program().functions[0].outputs[index].name);
  }
}

void compareCase(const CudaCase& testCase, bool libraries) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = planCase(context, testCase, "h200", libraries);
  ASSERT_TRUE(module.ok()) << module.status();
  auto program = codegen::compileForCuda(**module, {});
  ASSERT_TRUE(program.ok()) << program.status();
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_TRUE(executor.ok()) << executor.status();
  compareOnDevice(testCase, **module, **executor);
}

TEST_P(CudaGpuTest, EqualsTheReference) { compareCase(GetParam(), /*libraries=*/false); }

/// The products that cuBLASLt computes.
class CudaLibraryTest : public ::testing::TestWithParam<CudaCase> {};

TEST_P(CudaLibraryTest, EqualsTheReference) { compareCase(GetParam(), /*libraries=*/true); }

/// The cases in which some kernel is left to a library.
std::vector<CudaCase> libraryCases() {
  std::vector<CudaCase> cases;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const CudaCase& testCase : allCudaCases()) {
    auto module = planCase(context, testCase, "h200", /*libraries=*/true);
    bool uses = false;
    if (module.ok())
      (**module).walk(
          [&](KernelOp kernel) { uses |= kernel.getScheduleAttr().getEmitter() == "cublaslt"; });
    if (uses)
      cases.push_back(testCase);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaGpuTest, ::testing::ValuesIn(allCudaCases()),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Cases, CudaLibraryTest, ::testing::ValuesIn(libraryCases()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::testing
