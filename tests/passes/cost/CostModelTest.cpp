#include "passes/cost/CostModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "ir/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "support/Diagnostics.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {
namespace {

using namespace passes::cost;
using testing::HasSubstr;

/// A module with one scheduled kernel.
class Scheduled {
public:
  /// `plan` fused joins all operations of the function `body`.
  Scheduled(const std::string& function, const std::string& targetName, bool libraries = true)
      : target(findTarget(&context, targetName)) {
    context.loadDialect<func::FuncDialect>();
    module = parseSourceString<ModuleOp>(function, &context);
    EXPECT_TRUE(module);
    EXPECT_THAT(passes::runPipeline(
                    *module, {.upTo = Phase::Scheduled,
                              .target = target,
                              .fusion = {.plan = passes::Plan::Fused, .libraries = libraries}}),
                IsOk());
    module->walk([&](KernelOp op) {
      EXPECT_FALSE(kernel) << "expects one kernel";
      kernel = op;
    });
  }

  int64_t ns(LaunchMode mode = LaunchMode::Graph) { return estimate(mode).ns; }
  Estimate estimate(LaunchMode mode = LaunchMode::Graph, const MeasuredTimes* times = nullptr,
                    std::optional<int64_t> newest = std::nullopt) {
    return CostModel::create(module->getLoc(), target, mode, times, newest)->estimate(kernel);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  TargetAttr target;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
};

std::string add(int rows, int width) {
  return absl::StrFormat(
      "func.func @f(%%a: tensor<%1$dx%2$dxf16>, %%b: tensor<%1$dx%2$dxf16>) -> "
      "tensor<%1$dx%2$dxf16> {"
      "%%0 = tenon.add %%a, %%b : (tensor<%1$dx%2$dxf16>, tensor<%1$dx%2$dxf16>) -> "
      "tensor<%1$dx%2$dxf16> return %%0 : tensor<%1$dx%2$dxf16> }",
      rows, width);
}

std::string matmul(int rows, int columns, int depth, const char* weight = "f16") {
  return absl::StrFormat("func.func @f(%%x: tensor<%1$dx%3$dxf16>, %%w: tensor<%2$dx%3$dx%4$s>) -> "
                         "tensor<%1$dx%2$dxf16> { %%0 = tenon.matmul %%x, %%w : "
                         "(tensor<%1$dx%3$dxf16>, tensor<%2$dx%3$dx%4$s>) -> tensor<%1$dx%2$dxf16> "
                         "return %%0 : tensor<%1$dx%2$dxf16> }",
                         rows, columns, depth, weight);
}

TEST(CostModel, LimitersAndModes) {
  Scheduled small(add(1, 2560), "h200"), large(add(4096, 8192), "h200");
  EXPECT_EQ(small.estimate(LaunchMode::Stream).limiter, Limiter::Launch);
  EXPECT_LT(small.estimate(LaunchMode::GraphPdl).launchNs, small.estimate().launchNs);
  EXPECT_EQ(large.estimate().limiter, Limiter::Memory);
  EXPECT_EQ(small.ns(LaunchMode::Stream) - small.ns(LaunchMode::Graph), 2600);
  Scheduled product(matmul(4096, 4096, 4096), "h200");
  EXPECT_EQ(product.estimate().limiter, Limiter::Compute);
}

/// 224 tiles of an A100, which takes 108 or 216 at a time, take a wave more than 216.
TEST(CostModel, Waves) {
  Scheduled whole(matmul(1024, 128 * 27, 4096), "a100", /*libraries=*/false);
  Scheduled more(matmul(1024, 128 * 28, 4096), "a100", /*libraries=*/false);
  EXPECT_GT(more.estimate().computeNs, whole.estimate().computeNs * 5 / 4);
}

/// GEMMs of cuBLASLt in prefill and decode of Llama-3.1-8B and Llama-3.2-1B as an H200 measured them
/// (2026-11-22, `tenon bench`, net of timing), in other runs up to a third more
/// (docs/notebook/2026-11-23-library-in-place.md).
TEST(CostModel, LibraryGemmsTakeWhatWasMeasured) {
  struct Measured {
    int rows, columns, depth;
    double ns;
  };
  for (const Measured& gemm :
       {Measured{64, 4096, 4096, 12080}, Measured{64, 14336, 4096, 31290},
        Measured{512, 512, 2048, 6390}, Measured{512, 4096, 4096, 24340},
        Measured{512, 14336, 4096, 89780}, Measured{512, 4096, 14336, 77640},
        Measured{2048, 2048, 8192, 88620}, Measured{2048, 14336, 4096, 315600}}) {
    SCOPED_TRACE(absl::StrFormat("%d x %d x %d", gemm.rows, gemm.columns, gemm.depth));
    Scheduled library(matmul(gemm.rows, gemm.columns, gemm.depth), "h200");
    EXPECT_EQ(library.kernel.getScheduleAttr().getEmitter(), "cublaslt");
    EXPECT_GT(static_cast<double>(library.ns()), gemm.ns * 0.9);
    EXPECT_LT(static_cast<double>(library.ns()), gemm.ns * 1.4);
  }
}

/// Where memory is cuBLASLt's limit: down and head of Llama-3.1-8B in bf16, in steps (2026-11-29).
TEST(CostModel, LibraryGemmsOfFewRowsReadAsWasMeasured) {
  struct Measured {
    int rows, columns, depth;
    double ns;
  };
  for (const Measured& gemm : {Measured{24, 4096, 14336, 32140}, Measured{32, 4096, 14336, 32680},
                               Measured{64, 4096, 14336, 33900}, Measured{32, 128256, 4096, 248000},
                               Measured{64, 128256, 4096, 256400}}) {
    SCOPED_TRACE(absl::StrFormat("%d x %d x %d", gemm.rows, gemm.columns, gemm.depth));
    Scheduled library(matmul(gemm.rows, gemm.columns, gemm.depth), "h200");
    EXPECT_EQ(library.kernel.getScheduleAttr().getEmitter(), "cublaslt");
    EXPECT_NEAR(static_cast<double>(library.ns(LaunchMode::GraphPdl)), gemm.ns, gemm.ns * 0.04);
  }
}

/// y [rows, 12288] = x [rows, 3072]·Wᵀ in f32, and what `behind` computes of %0 as %1.
std::string matmulWith(int rows, const std::string& behind) {
  return absl::StrReplaceAll(
      absl::StrCat("func.func @f(%x: tensor<Mx3072xf32>, %w: tensor<12288x3072xf32>, "
                   "%b: tensor<12288xf32>) -> Y { %0 = tenon.matmul %x, %w : "
                   "(tensor<Mx3072xf32>, tensor<12288x3072xf32>) -> Y ",
                   behind, " return %1 : Y }"),
      {{"Y", absl::StrCat("tensor<", rows, "x12288xf32>")}, {"M", absl::StrCat(rows)}});
}

/// What a bias and GELU add to a library's GEMM, as an H200 measured them (2026-11-27, `tenon bench`,
/// docs/notebook/2026-11-27-epilogues-of-libraries.md).
TEST(CostModel, EpiloguesOfLibrariesTakeWhatWasMeasured) {
  for (auto [rows, geluNs] : {std::pair(512, 10500.0), {2048, 51400.0}}) {
    SCOPED_TRACE(rows);
    const std::string bias = "%1 = tenon.add %0, %b : (Y, tensor<12288xf32>) -> Y";
    Scheduled biased(matmulWith(rows, bias), "h200");
    Scheduled activated(matmulWith(rows, "%1 = tenon.gelu_tanh %0 : (Y) -> Y"), "h200");
    EXPECT_EQ(biased.kernel.getScheduleAttr().getEmitter(), "cublaslt");
    EXPECT_EQ(activated.kernel.getScheduleAttr().getEmitter(), "cublaslt");
    EXPECT_EQ(biased.estimate().latencyNs, 5300);
    auto gelu = static_cast<double>(activated.ns() - biased.ns());
    EXPECT_GT(gelu, geluNs * 0.8);
    EXPECT_LT(gelu, geluNs * 1.2);
  }
}

/// GEMMs of one row, whose weights come through rings, in steps of Llama-3.1-8B in 16 bits
/// (2026-11-26, net of timing) and in Q4_K (2026-11-28): head, down, output. The last three
/// alone (docs/notebook/2026-11-28-groups-beside-slices-of-x.md).
TEST(CostModel, GemmsOfOneRowTakeWhatWasMeasured) {
  struct Measured {
    int columns, depth;
    const char *weight, *kind;
    double ns;
  };
  for (const Measured& gemm :
       {Measured{128256, 4096, "f16", "gemv_bulk", 228960},
        Measured{4096, 14336, "f16", "gemv_bulk", 26660},
        Measured{4096, 4096, "f16", "gemv_bulk", 8400},
        Measured{128256, 4096, "!tenon.block<q4_k>", "held_block_gemv", 69770},
        Measured{4096, 14336, "!tenon.block<q4_k>", "held_block_gemv", 9840},
        Measured{4096, 4096, "!tenon.block<q4_k>", "held_block_gemv", 4240},
        Measured{12288, 4096, "!tenon.block<int4_g128x8_f16>", "held_block_gemv", 8270},
        Measured{12288, 4096, "!tenon.block<q4_0>", "held_block_gemv", 8750},
        Measured{12288, 4096, "!tenon.block<e4m3_g128_f32>", "held_block_gemv", 14100}}) {
    SCOPED_TRACE(absl::StrFormat("%d x %d of %s", gemm.columns, gemm.depth, gemm.weight));
    Scheduled row(matmul(1, gemm.columns, gemm.depth, gemm.weight), "h200");
    EXPECT_EQ(row.kernel.getScheduleAttr().getEmitter(), gemm.kind);
    EXPECT_GT(static_cast<double>(row.ns(LaunchMode::GraphPdl)), gemm.ns * 0.85);
    EXPECT_LT(static_cast<double>(row.ns(LaunchMode::GraphPdl)), gemm.ns * 1.15);
  }
}

/// Experts of 512 tokens: the gate of gpt-oss-20b and the down projection of Qwen3-30B-A3B
/// (docs/notebook/2026-11-27-experts-in-slices.md).
TEST(CostModel, ExpertsOfManyRowsTakeWhatWasMeasured) {
  struct Measured {
    const char *input, *ids, *weight, *result;
    double ns;
  };
  for (const Measured& gemm :
       {Measured{"512x2880xf16", "512x4xi32", "32x2880x2880x!tenon.block<mxfp4>", "512x4x2880xf16",
                 490000},
        Measured{"512x8x768xf16", "512x8xi32", "128x2048x768x!tenon.block<q4_k>", "512x8x2048xf16",
                 244000}}) {
    SCOPED_TRACE(gemm.weight);
    Scheduled experts(
        absl::StrReplaceAll("func.func @f(%x: tensor<X>, %w: tensor<W>, %i: tensor<I>) -> "
                            "tensor<Y> { %0 = tenon.expert_matmul %x, %w, %i : (tensor<X>, "
                            "tensor<W>, tensor<I>) -> tensor<Y> return %0 : tensor<Y> }",
                            {{"<X>", absl::StrCat("<", gemm.input, ">")},
                             {"<W>", absl::StrCat("<", gemm.weight, ">")},
                             {"<I>", absl::StrCat("<", gemm.ids, ">")},
                             {"<Y>", absl::StrCat("<", gemm.result, ">")}}),
        "h200");
    EXPECT_EQ(experts.kernel.getScheduleAttr().getEmitter(), "expert_gemm");
    EXPECT_GT(static_cast<double>(experts.ns()), gemm.ns * 0.85);
    EXPECT_LT(static_cast<double>(experts.ns()), gemm.ns * 1.2);
  }
}

/// GEMMs by warpgroups, as a stand-alone program measured the best of their tiles
/// (docs/notebook/2026-11-22-hopper-gemm.md); in place they take up to three tenths longer.
TEST(CostModel, GemmsOfWarpgroupsTakeWhatWasMeasured) {
  struct Measured {
    int rows, columns, depth;
    double ns;
  };
  for (const Measured& gemm :
       {Measured{512, 4096, 4096, 29430}, Measured{1024, 4096, 4096, 49120},
        Measured{2048, 4096, 14336, 367900}, Measured{4096, 6144, 4096, 313660}}) {
    SCOPED_TRACE(absl::StrFormat("%d x %d x %d", gemm.rows, gemm.columns, gemm.depth));
    Scheduled own(matmul(gemm.rows, gemm.columns, gemm.depth), "h200", /*libraries=*/false);
    EXPECT_EQ(own.kernel.getScheduleAttr().getEmitter(), "hopper_gemm");
    EXPECT_GT(static_cast<double>(own.ns()), gemm.ns * 0.9);
    EXPECT_LT(static_cast<double>(own.ns()), gemm.ns * 1.3);
  }
}

/// K is split where tiles are few, and the prediction says that it pays: down and output of
/// llama-3.2-1b in decode of 32 to 128 sequences; their weights alone take 7.2 and 1.8 µs.
TEST(CostModel, SplitKPaysWhereTilesAreFew) {
  for (int rows : {32, 64, 128})
    for (auto [depth, most] : {std::pair(8192, 15000.0), {2048, 7500.0}}) {
      SCOPED_TRACE(absl::StrFormat("%d x 2048 x %d", rows, depth));
      Scheduled own(matmul(rows, 2048, depth), "h200", /*libraries=*/false);
      ScheduleAttr schedule = own.kernel.getScheduleAttr();
      ASSERT_EQ(schedule.getEmitter(), "hopper_gemm");
      EXPECT_GT(schedule.getParameter("split").value_or(1), 1);
      EXPECT_LT(static_cast<double>(own.ns(LaunchMode::GraphPdl)), most);
      EXPECT_GT(static_cast<double>(own.ns(LaunchMode::GraphPdl)),
                2.0 * 2048 * depth / 4665 + 3000);
    }
}

std::string region(const std::string& body) {
  return "func.func @f(%x: tensor<2048x2048xbf16>, %v: tensor<8192x2048xbf16>, %w: "
         "tensor<8192x2048xbf16>) -> tensor<2048x8192xbf16> {" +
         body + " return %y : tensor<2048x8192xbf16> }";
}

/// What stands after a GEMM of warpgroups costs the tensor cores its time: SiLU alone, and the gated
/// product in one kernel, as plan `fused` ran it in prefill of llama-3.2-1b (2026-11-23): within 15 %.
TEST(CostModel, EpiloguesOfWarpgroupsTakeTheirTime) {
  const std::string gemm = "%p = tenon.matmul %x, %v : (tensor<2048x2048xbf16>, "
                           "tensor<8192x2048xbf16>) -> tensor<2048x8192xbf16>";
  const std::string up = "%q = tenon.matmul %x, %w : (tensor<2048x2048xbf16>, "
                         "tensor<8192x2048xbf16>) -> tensor<2048x8192xbf16>";
  const std::string type = "tensor<2048x8192xbf16>";
  const std::string pair = " : (" + type + ", " + type + ") -> " + type;
  Scheduled plain(region(gemm + " %y = tenon.add %p, %p" + pair), "h200");
  Scheduled silu(region(gemm + " %y = tenon.silu %p : (" + type + ") -> " + type), "h200");
  Scheduled gated(region(gemm + " " + up + " %y = tenon.glu silu %p, %q" + pair), "h200");
  for (Scheduled* kernel : {&plain, &silu, &gated})
    EXPECT_EQ(kernel->kernel.getScheduleAttr().getEmitter(), "hopper_gemm");
  EXPECT_GT(silu.estimate().ns, plain.estimate().ns + 5000);
  EXPECT_NEAR(static_cast<double>(gated.ns(LaunchMode::GraphPdl)), 193580, 0.15 * 193580);
}

std::string attention(int rows) {
  return absl::StrFormat(
      "func.func @f(%%q: tensor<%1$dx32x80xf16>, %%k: tensor<%1$dx512x32x80xf16>, "
      "%%s: tensor<%1$dxi32>) -> tensor<%1$dx32x80xf16> { %%0 = tenon.attention %%q, %%k, %%k, "
      "%%s, %%s scale 0.1 : (tensor<%1$dx32x80xf16>, tensor<%1$dx512x32x80xf16>, "
      "tensor<%1$dx512x32x80xf16>, tensor<%1$dxi32>, tensor<%1$dxi32>) -> tensor<%1$dx32x80xf16> "
      "return %%0 : tensor<%1$dx32x80xf16> }",
      rows);
}

/// Attention by warpgroups of the last rows of a full cache, 32 query and 8 key heads, as a stand-alone program measured
/// it (docs/notebook/2026-11-23-hopper-attention.md): ns within a quarter.
TEST(CostModel, AttentionOfManyRowsTakesWhatWasMeasured) {
  struct Measured {
    int rows, keys, size;
    double ns;
  };
  for (const Measured& point :
       {Measured{512, 1024, 64, 14700}, Measured{512, 4096, 64, 43750},
        Measured{2048, 8192, 64, 258900}, Measured{512, 1024, 128, 18190},
        Measured{512, 4096, 128, 55200}, Measured{2048, 8192, 128, 381570}}) {
    std::string text = absl::StrReplaceAll(
        "func.func @f(%q: Q, %k: K, %s: tensor<1xi32>, %p: P) -> Q { %0 = tenon.attention %q, %k, "
        "%k, %s, %p scale 0.1 : (Q, K, K, tensor<1xi32>, P) -> Q return %0 : Q }",
        {{"Q", absl::StrFormat("tensor<%dx32x%dxbf16>", point.rows, point.size)},
         {"K", absl::StrFormat("tensor<1x%dx8x%dxbf16>", point.keys, point.size)},
         {"P", absl::StrFormat("tensor<%dxi32>", point.rows)}});
    SCOPED_TRACE(text);
    Scheduled attention(text, "h200");
    EXPECT_EQ(attention.kernel.getScheduleAttr().getEmitter(), "hopper_attention");
    EXPECT_NEAR(static_cast<double>(attention.ns()), point.ns, point.ns / 4);
  }
}

/// Fewer warps for a unit take longer; blocks that wait for the place of others take twice as long.
TEST(CostModel, WavesOfAttention) {
  Scheduled four(attention(4), "h200"), whole(attention(16), "h200"), more(attention(17), "h200");
  EXPECT_GT(whole.estimate().latencyNs, four.estimate().latencyNs * 3 / 2);
  EXPECT_GT(more.estimate().latencyNs, whole.estimate().latencyNs * 3 / 2);
}

/// Attention of 32 rows over caches of `capacity` keys.
std::string cachedAttention(int capacity) {
  return absl::StrReplaceAll(
      "tenon.state @k : C tenon.state @v : C func.func @f(%q: Q, %s: I, %p: I) -> Q { "
      "%k = tenon.get_state @k : C %v = tenon.get_state @v : C "
      "%0 = tenon.attention %q, %k, %v, %s, %p scale 0.1 : (Q, C, C, I, I) -> Q return %0 : Q }",
      {{"C", absl::StrFormat("!tenon.state<32x%dx8x128xbf16>", capacity)},
       {"Q", "tensor<32x32x128xbf16>"},
       {"I", "tensor<32xi32>"}});
}

/// Half of the keys take half of the memory's time and half of the steps; full caches what they take
/// without a position.
TEST(CostModel, AttentionAtAPosition) {
  Scheduled kernel(cachedAttention(1024), "h200");
  auto at = [&](std::optional<int64_t> newest) {
    return kernel.estimate(LaunchMode::Graph, nullptr, newest);
  };
  EXPECT_NEAR(static_cast<double>(at(511).memoryNs), at({}).memoryNs / 2.0, at({}).memoryNs / 20.0);
  EXPECT_LT(at(511).latencyNs, at({}).latencyNs * 3 / 4);
  EXPECT_EQ(at(1023).ns, at({}).ns);
  EXPECT_EQ(at(5000).ns, at({}).ns);
}

/// Where rows are cut into parts of at least 1,024 keys, as many blocks wait for one another as there
/// are parts with keys.
TEST(CostModel, AttentionInPartsAtAPosition) {
  Scheduled whole(cachedAttention(1024), "h200"), parts(cachedAttention(8192), "h200");
  EXPECT_EQ(whole.kernel.getScheduleAttr().getTiles() * 8,
            parts.kernel.getScheduleAttr().getTiles());
  auto latency = [](Scheduled& kernel, int64_t newest) {
    return kernel.estimate(LaunchMode::Graph, nullptr, newest).latencyNs;
  };
  EXPECT_NEAR(latency(parts, 1023), latency(whole, 1023), latency(whole, 1023) / 20);
  EXPECT_GT(latency(parts, 8191), 4 * latency(parts, 1023));
}

TEST(CostModel, MeasuredTimesCount) {
  struct One : MeasuredTimes {
    std::string key;
    std::optional<int64_t> find(const std::string& contentKey) const override {
      return contentKey == key ? std::optional<int64_t>(1234) : std::nullopt;
    }
  } times;
  Scheduled kernel(add(1, 2560), "h200");
  EXPECT_NE(kernel.estimate(LaunchMode::Graph, &times).ns, 1234);
  times.key = contentKey(kernel.kernel);
  EXPECT_EQ(kernel.estimate(LaunchMode::Graph, &times).ns, 1234);
  EXPECT_EQ(kernel.estimate(LaunchMode::Graph, &times).limiter, Limiter::Measured);
}

TEST(CostModel, ContentKeys) {
  EXPECT_EQ(contentKey(Scheduled(add(1, 64), "h200").kernel),
            contentKey(Scheduled(add(1, 64), "h200").kernel));
  EXPECT_NE(contentKey(Scheduled(add(1, 64), "h200").kernel),
            contentKey(Scheduled(add(1, 65), "h200").kernel));
  EXPECT_EQ(contentKey(Scheduled(add(1, 64), "h200").kernel).size(), 16u);
}

TEST(CostModel, ASecondCoreHelps) {
  Scheduled one(add(1, 4096), "x86-64-v4"), two(add(2, 4096), "x86-64-v4");
  EXPECT_EQ(one.estimate().launchNs, 0);
  EXPECT_GT(two.estimate().launchNs, 0);
  EXPECT_EQ(two.estimate().memoryNs, one.estimate().memoryNs);
}

/// `rows` rows of activations of type `input` times q4_k weights [4096, 4096].
std::string quantMatmul(int rows, const std::string& input) {
  return absl::StrFormat(
      "func.func @f(%%x: tensor<%1$dx4096x%2$s>, %%w: tensor<4096x4096x!tenon.block<q4_k>>) -> "
      "tensor<%1$dx4096xf32> { %%0 = tenon.matmul %%x, %%w : (tensor<%1$dx4096x%2$s>, "
      "tensor<4096x4096x!tenon.block<q4_k>>) -> tensor<%1$dx4096xf32> "
      "return %%0 : tensor<%1$dx4096xf32> }",
      rows, input);
}

// 64 rows: 2.1 G operations at the rate of floats or of integers, and each weight decoded or
// unpacked once, shared by the cores.
TEST(CostModel, QuantsHaveARateOfTheirOwn) {
  Scheduled floats(quantMatmul(64, "f32"), "x86-64-v4-vnni");
  Scheduled quants(quantMatmul(64, "!tenon.block<q8_k>"), "x86-64-v4-vnni");
  auto property = [&](const char* name) {
    return static_cast<double>(floats.target.getProperty(name).value_or(0));
  };
  constexpr double weights = 4096.0 * 4096, operations = 2 * 64 * weights;
  double decode = weights * property("decode_q4_k_ps") * 1e-3 / property("cores");
  double unpack = weights * property("unpack_q4_k_ps") * 1e-3 / property("cores");
  EXPECT_GT(decode, 0);
  EXPECT_GT(unpack, 0);
  EXPECT_NEAR(floats.estimate().computeNs, operations / property("f32_gflops") + decode, 1);
  EXPECT_NEAR(quants.estimate().computeNs, operations / property("i8_gops") + unpack, 1);
}

/// The target of that name without one of its properties.
TargetAttr targetWithout(MLIRContext& context, const std::string& name, const char* property) {
  TargetAttr whole = findTarget(&context, name);
  NamedAttrList properties(whole.getProperties());
  EXPECT_TRUE(properties.erase(property));
  return TargetAttr::get(&context, whole.getName(), whole.getDevice(), whole.getFeatures(),
                         properties.getDictionary(&context));
}

TEST(CostModel, ACallOfAGraphTakesTimeBeyondItsKernels) {
  MLIRContext context;
  auto beyond = [&](TargetAttr target, LaunchMode mode) {
    return CostModel::create(UnknownLoc::get(&context), target, mode)->beyondKernelsNs();
  };
  TargetAttr h200 = findTarget(&context, "h200");
  int64_t ns = h200.getProperty("call_graph_ns").value_or(0);
  EXPECT_GT(ns, 0);
  EXPECT_EQ(beyond(h200, LaunchMode::GraphPdl), ns);
  EXPECT_EQ(beyond(h200, LaunchMode::Graph), ns);
  EXPECT_EQ(beyond(h200, LaunchMode::Stream), 0);
  EXPECT_EQ(beyond(findTarget(&context, "x86-64-v4"), LaunchMode::GraphPdl), 0);
  EXPECT_EQ(beyond(targetWithout(context, "h200", "call_graph_ns"), LaunchMode::GraphPdl), 0);
}

TEST(CostModel, MissingProperty) {
  MLIRContext context;
  TargetAttr target = targetWithout(context, "x86-64-v4", "step_ns");
  DiagnosticCollector diagnostics(&context);
  EXPECT_TRUE(
      failed(CostModel::create(UnknownLoc::get(&context), target, LaunchMode::Graph, nullptr)));
  EXPECT_THAT(diagnostics.takeStatus(),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("step_ns")));
}

} // namespace
} // namespace tenon::tests
