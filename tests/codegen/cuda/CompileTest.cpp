#include <gtest/gtest.h>

#include "CudaCases.h"
#include "codegen/cuda/CompileForCuda.h"
#include "mlir/IR/MLIRContext.h"

namespace tenon::testing {
namespace {

/// Kernels of these emitters spill a few registers at some shapes: decode attention of f32 queries,
/// the narrow GEMM at 8 rows. All others must not.
bool maySpill(llvm::StringRef kernel) {
  return kernel.ends_with("_decode_attention") || kernel.ends_with("_narrow_gemm");
}

/// Every emitter's kernels compile for every target, without a GPU.
class CudaCompileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaCompileTest, CompilesEveryCase) {
  for (const CudaCase& testCase : allCudaCases()) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = planCase(context, testCase, GetParam());
    ASSERT_TRUE(module.ok()) << testCase.name << ": " << module.status();
    std::vector<codegen::CudaKernel> kernels;
    auto program = codegen::compileForCuda(**module, {.kernels = &kernels});
    ASSERT_TRUE(program.ok()) << testCase.name << ": " << program.status();
    ASSERT_FALSE(kernels.empty()) << testCase.name;
    for (const codegen::CudaKernel& kernel : kernels) {
      if (!maySpill(kernel.name))
        EXPECT_EQ(kernel.spillBytes, 0) << testCase.name << ": " << kernel.name;
      EXPECT_GT(kernel.registers, 0) << testCase.name << ": " << kernel.name;
      EXPECT_FALSE(kernel.ptx.empty()) << testCase.name << ": " << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CudaCompileTest, ::testing::Values("a100", "h200", "b200"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::testing
