#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "CudaCases.h"
#include "SourceText.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "codegen/cuda/DependentLaunch.h"
#include "codegen/cuda/PhaseStructure.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "tests/common/TempFolder.h"

namespace tenon::testing {
namespace {

using codegen::CudaKernel;
using ::testing::HasSubstr;
using ::testing::Not;
namespace cuda = codegen::cuda;

/// `source` without `text`, which stands in it once.
std::string without(const std::string& source, const std::string& text) {
  EXPECT_NE(source.find(text), std::string::npos) << text;
  EXPECT_EQ(source.find(text), source.rfind(text)) << text;
  return absl::StrReplaceAll(source, {{text, ""}});
}

/// The source of a kernel that stamps, without what it does for that.
std::string withoutStamps(std::string source) {
  const std::string wait = "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n";
  if (source.find(wait) != std::string::npos) {
    EXPECT_THAT(source, HasSubstr(wait + "  stampWait(stamps[tile]);\n"));
    source = without(source, "  stampWait(stamps[tile]);\n");
  }
  size_t body = source.rfind("_tile(blockIdx.x");
  EXPECT_LT(source.find("stampEntry("), body);
  EXPECT_GT(source.find("stampExit("), body);
  for (const char* text : {"#include \"stamps.cuh\"\n", "  stampEntry(stamps[blockIdx.x]);\n",
                           "  stampExit(stamps[blockIdx.x]);\n"})
    source = without(source, text);
  source = without(source, ", stamps");
  EXPECT_EQ(absl::StrReplaceAll({{", BlockStamps* stamps", ""}}, &source), 2);
  return source;
}

constexpr const char* chain = R"(
tenon.file @m "m.gguf" bytes 8192 fingerprint 0
tenon.weight @w : tensor<64xf32> from [#tenon.range<@m, offset = 0, bytes = 256>]
func.func @f(%x: tensor<2x64xf16>) -> tensor<2x64xf16> {
  %w = tenon.get_weight @w : tensor<64xf32>
  %y = tenon.rms_norm %x, %w eps 1.0e-5 : (tensor<2x64xf16>, tensor<64xf32>) -> tensor<2x64xf16>
  return %y : tensor<2x64xf16>
})";

TEST(CudaSource, OfANormIsTheGoldenOne) {
  auto kernels = printText(chain);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].name, "k0_rms_norm");
  EXPECT_EQ((*kernels)[0].source, golden("rms_norm.cu"));
}

/// Whatever the addresses of its values: a kernel's source is the key of its code in the cache.
TEST(CudaSource, IsTheSameEachTime) {
  std::string text = R"(
  tenon.file @m "m.gguf" bytes 8192 fingerprint 0
  tenon.weight @scale : tensor<512xf16> from [#tenon.range<@m, offset = 0, bytes = 1024>]
  tenon.weight @shift : tensor<512xf16> from [#tenon.range<@m, offset = 1024, bytes = 1024>]
  func.func @f(%x: tensor<2x512xf16>) -> tensor<2x512xf16> {
    %scale = tenon.get_weight @scale : tensor<512xf16>
    %shift = tenon.get_weight @shift : tensor<512xf16>
    %y = tenon.layer_norm %x weight %scale bias %shift eps 1.0e-5
        : (tensor<2x512xf16>, tensor<512xf16>, tensor<512xf16>) -> tensor<2x512xf16>
    return %y : tensor<2x512xf16>
  })";
  auto first = printText(text);
  ASSERT_TRUE(first.ok()) << first.status();
  std::vector<std::unique_ptr<std::string>> between; // moves what is allocated next
  for (size_t call = 0; call < 16; ++call) {
    between.push_back(std::make_unique<std::string>(100 + 1000 * call, ' '));
    auto next = printText(text);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->front().source, first->front().source);
  }
}

TEST(CudaSource, OfANormThatStampsIsTheGoldenOne) {
  auto kernels = printText(chain, "h200", /*stamps=*/true);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].source, golden("rms_norm_stamps.cu"));
}

/// Every kernel of every emitter stamps its entry, its wait where it has one, and its exit, each in one
/// place, and is else the kernel without stamps, byte for byte.
TEST(CudaSource, StampsAreAllThatStampingAdds) {
  for (const char* target : {"a100", "h200"})
    for (const CudaCase& testCase : allCudaCases()) {
      SCOPED_TRACE(testCase.name);
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      auto module = planCase(context, testCase, target);
      ASSERT_TRUE(module.ok()) << module.status();
      auto plain = codegen::printCudaKernels(**module);
      auto stamping = codegen::printCudaKernels(**module, /*stamps=*/true);
      ASSERT_TRUE(plain.ok()) << plain.status();
      ASSERT_TRUE(stamping.ok()) << stamping.status();
      ASSERT_EQ(plain->size(), stamping->size());
      for (size_t i = 0; i < plain->size(); ++i) {
        EXPECT_THAT((*plain)[i].source, Not(HasSubstr("stamp")));
        EXPECT_EQ(withoutStamps((*stamping)[i].source), (*plain)[i].source);
      }
    }
}

/// A kernel of two elementwise operations, as fusion will make them.
TEST(CudaSource, OfAFusedChainIsTheGoldenOne) {
  auto kernels = printText(R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: tensor<3x40xf16>, %b: tensor<40xf32>) -> (tensor<3x40xf16>, tensor<3x40xf16>) {
    %0:2 = tenon.kernel (%a = %x : tensor<3x40xf16>, %c = %b : tensor<40xf32>)
        -> (tensor<3x40xf16>, tensor<3x40xf16>) {
      %s = tenon.add %a, %c : (tensor<3x40xf16>, tensor<40xf32>) -> tensor<3x40xf16>
      %r = tenon.silu %s : (tensor<3x40xf16>) -> tensor<3x40xf16>
      tenon.yield %s, %r : tensor<3x40xf16>, tensor<3x40xf16>
    }
    return %0#0, %0#1 : tensor<3x40xf16>, tensor<3x40xf16>
  }
})");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].source, golden("add_silu.cu"));
}

/// Regions that no emitter computes are refused with the reason, on every target.
TEST(CudaSource, RefusesRegionsWithoutEmitter) {
  struct Refused {
    const char* body;
    const char* target;
    const char* message;
  };
  const char* gemm = R"(
      %n = tenon.rms_norm %a, %b eps 1.0e-5
          : (tensor<1x64xf16>, tensor<64xf16>) -> tensor<1x64xf16>
      %p = tenon.matmul %n, %c : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>)";
  for (const Refused& refused : std::vector<Refused>{
           {"%y = tenon.silu %p : (tensor<1x64xf16>) -> tensor<1x64xf16>", "a100", "sm_90"},
           {"%y = tenon.softmax %p : (tensor<1x64xf16>) -> tensor<1x64xf16>", "h200",
            "after them, not softmax"},
           {"%y = tenon.matmul %p, %c : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>",
            "h200", "another one's input depends on"}}) {
    std::string text = std::string(R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: tensor<1x64xf16>, %g: tensor<64xf16>, %w: tensor<64x64xf16>)
      -> tensor<1x64xf16> {
    %0 = tenon.kernel (%a = %x : tensor<1x64xf16>, %b = %g : tensor<64xf16>,
                       %c = %w : tensor<64x64xf16>) -> tensor<1x64xf16> {)") +
                       gemm + "\n      " + refused.body + R"(
      tenon.yield %y : tensor<1x64xf16>
    }
    return %0 : tensor<1x64xf16>
  }
})";
    auto kernels = printText(text, refused.target);
    ASSERT_FALSE(kernels.ok()) << refused.message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(refused.message));
  }
}

TEST(CudaSource, OlderTargetsHaveNeitherBulkCopiesNorDependentLaunch) {
  auto kernels = printText(gemm, "a100");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_EQ(kernels->front().name, "k0_gemv");
  EXPECT_THAT(kernels->front().source, Not(HasSubstr("griddepcontrol")));
}

TEST(CudaSource, BodiesTakeATileAndOnlyTheWrapperReadsTheBlock) {
  for (const char* text : {chain, gemm}) {
    auto kernels = printText(text);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    const std::string& source = kernels->front().source;
    size_t block = source.find("blockIdx");
    EXPECT_GT(block, source.find("__global__"));
    EXPECT_EQ(source.find("blockIdx", block + 1), std::string::npos);
  }
}

std::string scheduled(const std::string& schedule, const std::string& order = "") {
  return R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%x: tensor<2x64xf32>) -> tensor<2x64xf32> {
    %0 = tenon.kernel (%a = %x : tensor<2x64xf32>) -> tensor<2x64xf32> schedule )" +
         schedule + R"( {
      %s = tenon.softmax %a )" +
         order + R"( : (tensor<2x64xf32>) -> tensor<2x64xf32>
      tenon.yield %s : tensor<2x64xf32>
    }
    return %0 : tensor<2x64xf32>
  }
})";
}

struct Refusal {
  std::string schedule, order, message;
};

TEST(CudaSource, RefusesSchedulesThatNoEmitterComputes) {
  const std::string order = "order <chunk = 0, lanes = 128, tree = halving>";
  auto rows = [](const char* tiles, const char* parameters) {
    return std::string("#tenon.schedule<\"softmax\", tiles = ") + tiles + ", {" + parameters + "}>";
  };
  const char* good = "threads = 128 : i64, group = 32 : i64, vector = 4 : i64";
  for (const Refusal& refusal : std::vector<Refusal>{
           {"#tenon.schedule<\"nothing\", tiles = 1>", order, "an emitter that CUDA has"},
           {"#tenon.schedule<\"softmax\", tiles = 1>", order, "expects a parameter 'group'"},
           {"#tenon.schedule<\"rms_norm\", tiles = 1>", order, "region of one tenon.rms_norm"},
           {"#tenon.schedule<\"argmax\", tiles = 1>", order, "region of one tenon.argmax"},
           {rows("2", good), order, "expects 1 tiles"},
           {rows("1", good), "", "expects an order in a scheduled module"},
           {rows("1", good), "order <chunk = 0, lanes = 64, tree = halving>",
            "expects an order of one chunk in 128 lanes"},
           {rows("1", "threads = 100 : i64, group = 32 : i64, vector = 4 : i64"), order,
            "whole warps of at most 1024"},
           {rows("1", "threads = 128 : i64, group = 64 : i64, vector = 4 : i64"), order,
            "a group of 32 or of all threads"},
           {rows("1", "threads = 128 : i64, group = 32 : i64, rows = 2 : i64, vector = 4 : i64"),
            order, "expects 2 rows a group of a norm, to divide 2 that stay in registers"},
           {rows("1", "threads = 128 : i64, group = 32 : i64, vector = 4 : i64"),
            "order <chunk = 32, lanes = 128, tree = halving>", "whole warps, at most 15 groups"},
           {rows("1", "threads = 64 : i64, group = 64 : i64, vector = 1 : i64"),
            "order <chunk = 48, lanes = 32, tree = halving>",
            "or of chunks of multiples of 32 elements in 32 lanes"}}) {
    auto kernels = printText(scheduled(refusal.schedule, refusal.order));
    ASSERT_FALSE(kernels.ok()) << refusal.message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(refusal.message));
  }
  auto kernels = printText(scheduled(rows("1", good), order));
  EXPECT_TRUE(kernels.ok()) << kernels.status();
}

/// Rows of 300 elements that two warps share: chunks of a vector of a warp, or one for each.
TEST(CudaSource, RefusesChunksThatWarpsDoNotTake) {
  auto print = [](int chunk) {
    std::string schedule = "#tenon.schedule<\"softmax\", tiles = 2, {threads = 64 : i64, "
                           "group = 64 : i64, vector = 1 : i64}>";
    std::string text = scheduled(
        schedule, absl::StrFormat("order <chunk = %d, lanes = 32, tree = halving>", chunk));
    absl::StrReplaceAll({{"2x64x", "2x300x"}}, &text);
    return printText(text).status();
  };
  EXPECT_TRUE(print(32).ok()) << print(32);
  EXPECT_TRUE(print(160).ok()) << print(160);
  for (int chunk : {64, 192})
    EXPECT_THAT(std::string(print(chunk).message()),
                HasSubstr("chunks of 32 elements, or of the 160 that a warp"));
}

TEST(CudaSource, RefusesATargetThatIsNoGpu) {
  auto kernels = printText(chain, "x86-64-v3");
  EXPECT_THAT(std::string(kernels.status().message()), HasSubstr("a feature sm_80 or later"));
}

TEST(PhaseStructure, VerifiesTheChain) {
  using enum cuda::MemorySpace;
  cuda::PhaseStructure structure;
  EXPECT_EQ(structure.verify().reason(), "no phase stores a result");
  structure.begin(cuda::PhaseKind::Store, {}, {{Global, "r0"}});
  EXPECT_TRUE(structure.verify());
  structure.begin(cuda::PhaseKind::Load, {}, {});
  EXPECT_EQ(structure.verify().reason(), "a load phase stands after a store phase");
  structure.phases.pop_back();
  structure.begin(cuda::PhaseKind::Store, {}, {{Constant, "a0"}});
  EXPECT_EQ(structure.verify().reason(), "a store phase writes the constant a0");
  structure.phases.clear();
  structure.begin(cuda::PhaseKind::Load, {}, {{Global, "r0"}});
  EXPECT_EQ(structure.verify().reason(), "a load phase writes r0 in global memory");
  structure.phases.clear();
  structure.begin(cuda::PhaseKind::Prologue, {}, {{Global, "r0"}});
  structure.begin(cuda::PhaseKind::MainLoop, {}, {{Registers, "sum"}});
  EXPECT_TRUE(structure.verify());
}

/// Weights on their way, an activation, a result: what a product does.
cuda::PhaseStructure waitingStructure() {
  using enum cuda::MemorySpace;
  cuda::PhaseStructure structure;
  structure.pdl = true;
  structure.begin(cuda::PhaseKind::Load, {{Constant, "a1"}}, {{Shared, "ring"}});
  structure.begin(cuda::PhaseKind::Load, {{Global, "a0"}}, {{Shared, "input"}});
  structure.begin(cuda::PhaseKind::Store, {{Shared, "input"}}, {{Global, "r0"}});
  cuda::placeWait(structure);
  return structure;
}

TEST(DependentLaunch, WaitsBehindTheWeightsAndBeforeAllElse) {
  cuda::PhaseStructure structure = waitingStructure();
  EXPECT_EQ(structure.wait, 1u);
  EXPECT_TRUE(cuda::verifyWait(structure));
  structure.pdl = false;
  cuda::placeWait(structure);
  EXPECT_EQ(structure.wait, std::nullopt);
  EXPECT_TRUE(cuda::verifyWait(structure));
}

TEST(DependentLaunch, LetsTheNextKernelStartAtEntryOrAsBlocksEnd) {
  cuda::PhaseStructure structure = waitingStructure();
  const std::string trigger = "griddepcontrol.launch_dependents", wait = "griddepcontrol.wait";
  EXPECT_NE(structure.print().find(trigger), std::string::npos);
  structure.triggersAtEntry = false;
  EXPECT_EQ(structure.print().find(trigger), std::string::npos);
  EXPECT_NE(structure.print().find(wait), std::string::npos);
}

TEST(DependentLaunch, RefusesAReadBeforeTheWait) {
  cuda::PhaseStructure structure = waitingStructure();
  structure.wait = 2;
  EXPECT_EQ(cuda::verifyWait(structure).reason(), "phase 1 reads a0 before the wait");
}

TEST(DependentLaunch, RefusesAMissingWait) {
  cuda::PhaseStructure structure = waitingStructure();
  structure.wait.reset();
  EXPECT_EQ(cuda::verifyWait(structure).reason(), "the kernel never waits for the one before");
  structure.wait = structure.phases.size();
  EXPECT_EQ(cuda::verifyWait(structure).reason(), "the kernel never waits for the one before");
}

TEST(DependentLaunch, RefusesAStoreBeforeTheWait) {
  cuda::PhaseStructure structure = waitingStructure();
  structure.phases[0].writes.push_back({cuda::MemorySpace::Global, "r1"});
  EXPECT_EQ(cuda::verifyWait(structure).reason(), "phase 0 stores r1 before the wait");
}

/// A result takes over the buffer of a value that the kernel before may still read; scratch memory
/// is that of the launch before.
TEST(DependentLaunch, RefusesMemoryThatTheKernelBeforeStillHas) {
  using enum cuda::MemorySpace;
  cuda::PhaseStructure structure;
  structure.pdl = true;
  structure.begin(cuda::PhaseKind::Load, {{Constant, "a0"}}, {{Registers, "x"}});
  structure.begin(cuda::PhaseKind::MainLoop, {}, {{Scratch, "parts"}});
  structure.begin(cuda::PhaseKind::Store, {}, {{Global, "r0"}});
  cuda::placeWait(structure);
  EXPECT_EQ(structure.wait, 1u);
  structure.wait = 2;
  EXPECT_EQ(cuda::verifyWait(structure).reason(), "phase 1 stores parts before the wait");
}

TEST(DependentLaunch, IsRefusedToPhasesThatNoKernelHas) {
  using enum cuda::MemorySpace;
  cuda::PhaseStructure structure;
  structure.pdl = true;
  EXPECT_EQ(cuda::finishPhases(structure).reason(),
            "expects phases that a kernel can have, but no phase stores a result");
  structure.begin(cuda::PhaseKind::Store, {}, {{Global, "r0"}});
  EXPECT_TRUE(cuda::finishPhases(structure));
  EXPECT_EQ(structure.wait, 0u);
}

TEST(ScalarPrinter, LiteralsReadBackExactly) {
  EXPECT_EQ(cuda::floatLiteral(1), "1.0f");
  EXPECT_EQ(cuda::floatLiteral(-0.5f), "(-0.5f)");
  EXPECT_EQ(cuda::floatLiteral(-0.0f), "(-0.0f)");
  EXPECT_EQ(cuda::floatLiteral(1e-20f), "9.99999968e-21f");
  EXPECT_EQ(cuda::floatLiteral(std::numeric_limits<float>::infinity()),
            "__uint_as_float(0x7f800000u)");
}

} // namespace
} // namespace tenon::testing
