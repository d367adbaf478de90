#include <gtest/gtest.h>

#include "CudaCases.h"
#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/codegen/cuda/ExpectResources.h"

namespace tenon::testing {
namespace {

/// What calls of the accurate division, square root and tanh may save around themselves, measured
/// with NVRTC 13.0: some kernels have 8 to 24 bytes.
constexpr int callBytes = 24;

/// What attention of 128 rows of heads of 128 may save: its sums fill the registers, and with fewer
/// keys a block it saves nothing but takes longer (H200, 2,048 tokens: 144 and 151 µs).
constexpr int widePrefillBytes = 80;

/// What three warpgroups with heads of 128 keep beyond their 160 registers, and what the same cases
/// take without warpgroups on an A100 (NVRTC 13.0).
constexpr int warpgroupAttentionBytes = 8, noWarpgroupAttentionBytes = 24;

/// What decode attention on CUDA cores may save around the exchange of a row's parts (NVRTC 13.0); not
/// compared with kernels that save nothing. On tensor cores it saves nothing.
constexpr int decodeAttentionBytes = 40;

/// What IQ4_NL's levels and numbers take beyond the registers in one case each on an A100 and a B200
/// (NVRTC 13.0).
constexpr int levelBytes = 8;

/// What 16 rows a tile beside blocks take beyond the registers that two blocks leave (NVRTC 13.0): some
/// encodings on an A100, fewer on an H200; NVFP4.
constexpr int tileRowsBytes = 36, scaledTileRowsBytes = 204;

/// What gemm, outside tensor cores, takes beyond the registers with rows that are no whole tiles (NVRTC
/// 13.0: 24 x 257 on an A100, 300 x 264 on an H200).
constexpr int gemmBytes = 16;

int allowedSpills(const CudaCase& testCase, const std::string& target) {
  bool isCut = testCase.name.ends_with("24x257x1032") || testCase.name.ends_with("300x264x520");
  if (isCut && testCase.name.find("f32") != testCase.name.npos)
    return gemmBytes;
  if (testCase.name.starts_with("matmul_iq4_nl") && target != "h200")
    return levelBytes;
  if (testCase.name.starts_with("matmul_") && testCase.name.find("_40x70x") != testCase.name.npos)
    return testCase.name.starts_with("matmul_nvfp4_") ? scaledTileRowsBytes : tileRowsBytes;
  if (testCase.name.starts_with("matmul"))
    return 0;
  if (testCase.name.starts_with("attention_warpgroups"))
    return target == "a100" ? noWarpgroupAttentionBytes : warpgroupAttentionBytes;
  if (testCase.name.starts_with("attention_prefill"))
    return testCase.name.starts_with("attention_prefill_wide") ? widePrefillBytes : callBytes;
  return testCase.name.starts_with("attention") ? decodeAttentionBytes : callBytes;
}

/// Every emitter's kernels compile without a GPU: all cases for the H200, every fourth for the
/// others. Products spill nothing but as above, other kernels no more than around calls; a block takes what its
/// schedule says.
class CudaCompileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaCompileTest, CompilesWithoutSpills) {
  for (const auto& [index, testCase] : llvm::enumerate(allCudaCases())) {
    if (index % 4 != 0 && std::string(GetParam()) != "h200")
      continue;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = planCase(context, testCase, GetParam());
    ASSERT_TRUE(module.ok()) << testCase.name << ": " << module.status();
    std::vector<codegen::CudaKernel> kernels;
    auto program = codegen::compileForCuda(**module, {.kernels = &kernels});
    ASSERT_TRUE(program.ok()) << testCase.name << ": " << program.status();
    ASSERT_FALSE(kernels.empty()) << testCase.name;
    for (const codegen::CudaKernel& kernel : kernels) {
      SCOPED_TRACE(testCase.name);
      expectResources(kernel, findTarget(&context, GetParam()), /*slack=*/4);
      EXPECT_LE(kernel.spillBytes, allowedSpills(testCase, GetParam())) << kernel.name;
      EXPECT_FALSE(kernel.ptx.empty()) << kernel.name;
    }
  }
}

/// Rows of which a block's shared memory holds a part at most: the schedules' arrays pass NVRTC, too.
TEST_P(CudaCompileTest, CompilesVeryWideRows) {
  for (int64_t width : {786'432, 20'000'000}) {
    CudaCase wide = {"very_wide_rows",
                     {{{1, width}, "f16"}},
                     "f16",
                     [](frontends::GraphBuilder& b, const std::vector<frontends::Value>& x) {
                       b.output("a", b.rmsNorm(x[0], 1e-5));
                       b.output("b", b.layerNorm(x[0], 1e-5));
                       b.output("c", b.softmax(x[0]));
                     },
                     4e-6};
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = planCase(context, wide, GetParam());
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<codegen::CudaKernel> kernels;
    auto program = codegen::compileForCuda(**module, {.kernels = &kernels});
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_EQ(kernels.size(), 3u);
    for (const codegen::CudaKernel& kernel : kernels)
      expectResources(kernel, findTarget(&context, GetParam()), /*slack=*/4);
  }
}

/// Kernels that stamp, every 28th case: products spill nothing, the others what they do without stamps
/// and an address; a block takes what its schedule says.
TEST(CudaCompileStampsTest, CompilesWithoutSpills) {
  constexpr int addressBytes = 8;
  for (const auto& [index, testCase] : llvm::enumerate(allCudaCases())) {
    if (index % 28 != 0)
      continue;
    SCOPED_TRACE(testCase.name);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = planCase(context, testCase, "h200");
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<codegen::CudaKernel> kernels;
    auto program = codegen::compileForCuda(**module, {.kernels = &kernels, .stamps = true});
    ASSERT_TRUE(program.ok()) << program.status();
    for (const runtime::Kernel& kernel : program->kernels)
      EXPECT_TRUE(std::get<runtime::CudaLaunch>(kernel.launch).stamps);
    for (const codegen::CudaKernel& kernel : kernels) {
      int allowed = allowedSpills(testCase, "h200");
      expectResources(kernel, findTarget(&context, "h200"), /*slack=*/4);
      EXPECT_LE(kernel.spillBytes, allowed == 0 ? 0 : allowed + addressBytes) << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, CudaCompileTest, ::testing::Values("a100", "h200", "b200"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::testing
