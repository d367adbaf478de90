// Schedules as types, and what kinds of kernels say of a region that has one.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "ir/Targets.h"
#include "kernels/KernelKind.h"
#include "kernels/cpu/Matmul.h"
#include "kernels/cuda/BlockGemm.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/cuda/GemvBulk.h"
#include "kernels/cuda/HeldBlockGemm.h"
#include "kernels/cuda/HopperGemm.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/TensorDecodeAttention.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/cost/CostModel.h"
#include "passes/schedule/Scheduler.h"

using namespace mlir;

namespace tenon::tests {
namespace {

using namespace kernels;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;

class ScheduleTest : public testing::Test {
protected:
  ScheduleTest() { context.loadDialect<TenonDialect, func::FuncDialect>(); }

  ScheduleAttr attribute(const std::string& parameters, const std::string& kind = "narrow_gemm") {
    return llvm::cast<ScheduleAttr>(parseAttribute(
        absl::StrCat("#tenon.schedule<\"", kind, "\", tiles = 7, {", parameters, "}>"), &context));
  }

  /// The one kernel of a function of one row of f16 times a weight of 4,096 rows.
  KernelOp product() {
    module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<1x2048xf16>, %w: tensor<4096x2048xf16>) -> tensor<1x4096xf16> {
  %0 = tenon.kernel (%a = %x : tensor<1x2048xf16>, %b = %w : tensor<4096x2048xf16>)
      -> tensor<1x4096xf16> {
    %y = tenon.matmul %a, %b
        : (tensor<1x2048xf16>, tensor<4096x2048xf16>) -> tensor<1x4096xf16>
    tenon.yield %y : tensor<1x4096xf16>
  }
  return %0 : tensor<1x4096xf16>
})",
                                         &context);
    KernelOp found;
    module->walk([&](KernelOp kernel) { found = kernel; });
    return found;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(ScheduleTest, IsReadAndPrinted) {
  for (const char* parameters :
       {"blocks_per_sm = 2 : i64, stages = 5 : i64, threads = 256 : i64, tile_lines = 16 : i64",
        "blocks_per_sm = 2 : i64, held_pieces = 3 : i64, stages = 5 : i64, threads = 256 : i64, "
        "tile_lines = 16 : i64"}) {
    ScheduleAttr given = attribute(parameters);
    VerdictOr<NarrowGemmSchedule> schedule = parseSchedule<NarrowGemmSchedule>(given);
    ASSERT_TRUE(schedule) << schedule.reason();
    EXPECT_EQ(schedule->tiles, 7);
    EXPECT_EQ(schedule->stages, 5);
    EXPECT_EQ(schedule->tileLines, 16);
    EXPECT_EQ(printSchedule(&context, "narrow_gemm", *schedule), given);
  }
}

TEST_F(ScheduleTest, RefusesParametersThatAreMissingOutOfRangeOrUnknown) {
  const std::string others = "blocks_per_sm = 2 : i64, tile_lines = 16 : i64";
  for (auto [parameters, reason] :
       {std::pair("threads = 256 : i64", "expects a parameter 'stages' in the schedule"),
        {"threads = 256 : i64, stages = 9 : i64", "expects 1 to 8 stages, but got 9"},
        {"threads = 100 : i64, stages = 5 : i64", "expects whole warps of at most 1024 threads"},
        {"threads = 2048 : i64, stages = 5 : i64", "expects whole warps of at most 1024 threads"},
        {"threads = 256 : i64, stages = 5 : i64, stage = 5 : i64",
         "expects no parameter 'stage' in a schedule of that kind"}}) {
    VerdictOr<NarrowGemmSchedule> schedule =
        parseSchedule<NarrowGemmSchedule>(attribute(absl::StrCat(others, ", ", parameters)));
    ASSERT_FALSE(schedule) << parameters;
    EXPECT_THAT(schedule.reason(), HasSubstr(reason));
  }
}

TEST_F(ScheduleTest, OfAKindThatGpusDoNotHaveIsRefused) {
  KernelOp kernel = product();
  kernel.setScheduleAttr(attribute("", "packed_matmul"));
  auto matched = readKernel(kernel);
  ASSERT_FALSE(matched);
  EXPECT_EQ(matched.reason(), "expects a kind of kernel that GPUs have, but got packed_matmul");
}

/// A CPU's product of quants has other tiles of whole blocks of columns, of all tiles as many.
TEST_F(ScheduleTest, OfQuantsOnACpuHasAlternatives) {
  module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<4x2048x!tenon.block<q8_s>>, %w: tensor<8192x2048x!tenon.block<q8_0>>)
    -> tensor<4x8192xf32> {
  %0 = tenon.kernel (%a = %x : tensor<4x2048x!tenon.block<q8_s>>,
                     %b = %w : tensor<8192x2048x!tenon.block<q8_0>>) -> tensor<4x8192xf32> {
    %y = tenon.matmul %a, %b
        : (tensor<4x2048x!tenon.block<q8_s>>, tensor<8192x2048x!tenon.block<q8_0>>)
        -> tensor<4x8192xf32>
    tenon.yield %y : tensor<4x8192xf32>
  }
  return %0 : tensor<4x8192xf32>
})",
                                       &context);
  ASSERT_TRUE(module);
  KernelOp kernel;
  module->walk([&](KernelOp found) { kernel = found; });
  auto scheduler = passes::schedule::Scheduler::create(*module, findTarget(&context, "x86-64-v4"));
  ASSERT_TRUE(succeeded(scheduler));
  kernel.setScheduleAttr(scheduler->best(kernel));
  auto chosen = cpu::QuantizedMatmulKernel::read(kernel);
  ASSERT_TRUE(chosen) << chosen.reason();
  EXPECT_EQ(printSchedule(&context, "quantized_matmul", chosen->schedule),
            kernel.getScheduleAttr());
  constexpr int64_t lanes = 16;
  const int64_t block = chosen->schedule.columnVectors * lanes;
  std::vector<int64_t> columns;
  for (ScheduleAttr other : scheduler->alternatives(kernel)) {
    auto schedule = parseSchedule<cpu::QuantizedMatmulSchedule>(other);
    ASSERT_TRUE(schedule) << schedule.reason();
    EXPECT_EQ(schedule->columnsPerTile % block, 0);
    EXPECT_EQ(schedule->tiles, (8192 + schedule->columnsPerTile - 1) / schedule->columnsPerTile);
    EXPECT_EQ(schedule->rowBlock, chosen->schedule.rowBlock);
    columns.push_back(schedule->columnsPerTile);
  }
  EXPECT_THAT(columns, testing::Contains(2 * chosen->schedule.columnsPerTile));
  kernel.setScheduleAttr(attribute("", "quantized_matmul"));
  EXPECT_TRUE(scheduler->alternatives(kernel).empty());
}

/// What a CPU's schedule may not hold is said by the parameter that is wrong.
TEST_F(ScheduleTest, OfACpuRefusesWhatUnrollsWithoutEnd) {
  auto refusal = [&](const std::string& parameters) {
    return parseSchedule<cpu::DotBlockSchedule>(attribute(parameters, "matmul")).reason();
  };
  const std::string tile = "columns_per_tile = 8 : i64, row_block = 1 : i64, ";
  EXPECT_THAT(refusal(tile + "column_block = 65 : i64, step = 8 : i64"),
              HasSubstr("expects 1 to 64 column_block, but got 65"));
  EXPECT_THAT(refusal(tile + "column_block = 4 : i64, step = 8 : i64, depth_block = 8 : i64"),
              HasSubstr("expects no parameter 'depth_block' in a schedule of that kind"));
}

/// Kinds of one operation are named after it, and read nothing but it.
TEST_F(ScheduleTest, OfRowsIsReadBesideItsReduction) {
  module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<4x2048xf16>, %w: tensor<2048xf16>) -> tensor<4x2048xf16> {
  %0 = tenon.kernel (%a = %x : tensor<4x2048xf16>, %b = %w : tensor<2048xf16>)
      -> tensor<4x2048xf16> {
    %s = tenon.add %a, %a : (tensor<4x2048xf16>, tensor<4x2048xf16>) -> tensor<4x2048xf16>
    %y = tenon.rms_norm %s, %b eps 1.0e-5
        : (tensor<4x2048xf16>, tensor<2048xf16>) -> tensor<4x2048xf16>
    tenon.yield %y : tensor<4x2048xf16>
  }
  return %0 : tensor<4x2048xf16>
})",
                                       &context);
  ASSERT_TRUE(module);
  KernelOp kernel;
  module->walk([&](KernelOp found) { kernel = found; });
  const std::string good = "group = 256 : i64, threads = 256 : i64, vector = 8 : i64";
  kernel.setScheduleAttr(attribute(good, "rms_norm"));
  auto matched = readKernel(kernel);
  ASSERT_TRUE(matched) << matched.reason();
  EXPECT_EQ((*matched)->resources()->threads, 256);
  EXPECT_TRUE((*matched)->priceTerms().keepsRows);
  EXPECT_TRUE((*matched)->priceTerms().sharesRows);
  for (auto [kind, parameters, reason] :
       {std::tuple("softmax", good, "expects a tenon.softmax in a kernel of the emitter softmax"),
        {"argmax", "threads = 32 : i64", "expects a region of one tenon.argmax"},
        {"copy", good, "expects a region of one operation that moves elements"},
        {"rms_norm", good + ", stages = 2 : i64", "expects no parameter 'stages'"},
        {"elementwise", good, "expects a parameter 'row_elements'"},
        {"decode_attention", good, "expects a region of one tenon.attention"}}) {
    kernel.setScheduleAttr(attribute(parameters, kind));
    auto refused = readKernel(kernel);
    ASSERT_FALSE(refused) << kind;
    EXPECT_THAT(refused.reason(), HasSubstr(reason));
  }
}

/// Beside attention warps leave registers to its blocks. A candidate for fusion has no neighbours
/// yet: its price must be that of the schedule which then runs beside them.
TEST_F(ScheduleTest, DependsOnNeighboursButItsPriceDoesNot) {
  KernelOp kernel = product();
  TargetAttr target = findTarget(&context, "h200");
  auto scheduler = passes::schedule::Scheduler::create(*module, target);
  auto model =
      passes::cost::CostModel::create(module->getLoc(), target, passes::cost::LaunchMode::GraphPdl);
  ASSERT_TRUE(succeeded(scheduler) && succeeded(model));
  ScheduleAttr alone = scheduler->best(kernel),
               beside = scheduler->best(kernel, {.attention = true, .reader = {}});
  EXPECT_EQ(alone.getParameter("held"), 1);
  EXPECT_EQ(beside.getParameter("held"), std::nullopt);
  kernel.setScheduleAttr(alone);
  int64_t ns = model->estimate(kernel).ns;
  kernel.setScheduleAttr(beside);
  EXPECT_EQ(model->estimate(kernel).ns, ns);
}

/// A GEMM by warpgroups gets the tile that the constants of the target's fit call best: where the L2
/// cache is slow, one whose blocks share more of what they read.
TEST_F(ScheduleTest, FollowsTheFit) {
  module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<512x2048xbf16>, %w: tensor<2048x2048xbf16>) -> tensor<512x2048xbf16> {
  %0 = tenon.kernel (%a = %x : tensor<512x2048xbf16>, %b = %w : tensor<2048x2048xbf16>)
      -> tensor<512x2048xbf16> {
    %y = tenon.matmul %a, %b
        : (tensor<512x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<512x2048xbf16>
    tenon.yield %y : tensor<512x2048xbf16>
  }
  return %0 : tensor<512x2048xbf16>
})",
                                       &context);
  ASSERT_TRUE(module);
  KernelOp kernel;
  module->walk([&](KernelOp found) { kernel = found; });
  auto readRows = [&](const std::string& constant) {
    TargetAttr target = parseTarget(
        &context,
        absl::StrCat("base = \"h200\"\n#tenon.target<\"t\", cuda, features = [\"sm_90a\"], {",
                     constant, "}>"));
    auto scheduler = passes::schedule::Scheduler::create(*module, target);
    ScheduleAttr schedule = scheduler->best(kernel);
    EXPECT_EQ(schedule.getEmitter(), "hopper_gemm");
    auto typed = parseSchedule<HopperGemmSchedule>(schedule);
    HopperTile tile = typed->tileOf(1, *findEncoding("f16"), *findEncoding("f16"));
    // Rows of both factors that a block itself brings, for an element of its tile.
    return static_cast<double>(tile.boxOfX() + tile.boxOfW()) /
           static_cast<double>(tile.rows() * tile.columns);
  };
  EXPECT_LT(readRows("l2_read_bytes_per_cycle = 2 : i64"),
            readRows("l2_read_bytes_per_cycle = 4000 : i64"));
}

/// What kinds are tuned with is the target's where it states another number.
TEST_F(ScheduleTest, FollowsTheTargetsTuning) {
  module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<8x4096xf16>, %w: tensor<14336x4096x!tenon.block<q4_k>>,
             %q: tensor<32x32x128xf16>, %k: tensor<32x16384x8x128xf16>,
             %v: tensor<32x16384x8x128xf16>, %s: tensor<32xi32>, %p: tensor<32xi32>)
    -> (tensor<8x14336xf16>, tensor<32x32x128xf16>) {
  %0 = tenon.matmul %x, %w : (tensor<8x4096xf16>, tensor<14336x4096x!tenon.block<q4_k>>)
      -> tensor<8x14336xf16>
  %1 = tenon.attention %q, %k, %v, %s, %p scale 0.125
      : (tensor<32x32x128xf16>, tensor<32x16384x8x128xf16>, tensor<32x16384x8x128xf16>,
         tensor<32xi32>, tensor<32xi32>) -> tensor<32x32x128xf16>
  return %0, %1 : tensor<8x14336xf16>, tensor<32x32x128xf16>
})",
                                       &context);
  ASSERT_TRUE(module);
  func::FuncOp function = *(*module).getOps<func::FuncOp>().begin();
  MatmulOp gemm = *function.getOps<MatmulOp>().begin();
  AttentionOp attention = *function.getOps<AttentionOp>().begin();
  auto choose = [&](const std::string& tuning) {
    TargetAttr attribute = parseTarget(
        &context,
        absl::StrCat("base = \"h200\"\n#tenon.target<\"t\", cuda, features = [\"sm_90a\"], {",
                     tuning, "}>"));
    auto target = CudaTarget::read(attribute, LibraryUse());
    TensorDecodeSchedule decode = chooseTensorDecode(attention, *target);
    return std::array{chooseHeldBlockGemm(regionOfGemm(gemm), *target).stages, decode.splits,
                      decode.leastKeys};
  };
  EXPECT_THAT(choose("held_block_stages = 3 : i64"), ElementsAre(3, 8, 1024));
  EXPECT_THAT(choose("held_block_stages = 99 : i64, decode_part_keys = 4096 : i64"),
              ElementsAre(Le(HeldBlockGemmSchedule::mostStages), 4, 4096));
  EXPECT_THAT(choose("decode_most_parts = 2 : i64"), ElementsAre(4, 2, 1024));
}

/// Products side by side, as a region of their own, on tensor cores: the lines of a tile are of one
/// encoding.
TEST_F(ScheduleTest, OfBlocksTakesOneEncoding) {
  auto target = CudaTarget::read(findTarget(&context, "h200"), LibraryUse());
  ASSERT_TRUE(target) << target.reason();
  auto verdict = [&](const std::string& other) {
    module = parseSourceString<ModuleOp>(
        absl::StrCat(R"(
func.func @f(%x: tensor<8x4096xf16>, %q: tensor<4096x4096x!tenon.block<q4_k>>,
             %v: tensor<1024x4096x!tenon.block<)",
                     other, R"(>>) -> (tensor<8x4096xf16>, tensor<8x1024xf16>) {
  %0 = tenon.matmul %x, %q : (tensor<8x4096xf16>, tensor<4096x4096x!tenon.block<q4_k>>)
      -> tensor<8x4096xf16>
  %1 = tenon.matmul %x, %v : (tensor<8x4096xf16>, tensor<1024x4096x!tenon.block<)",
                     other, R"(>>)
      -> tensor<8x1024xf16>
  return %0, %1 : tensor<8x4096xf16>, tensor<8x1024xf16>
})"),
        &context);
    llvm::SmallVector<MatmulOp> products;
    module->walk([&](MatmulOp op) { products.push_back(op); });
    GemmRegion region = regionOfGemm(products[0]);
    region.groups.push_back(regionOfGemm(products[1]).groups.front());
    return acceptsBlockGemm(region, *target);
  };
  EXPECT_TRUE(verdict("q4_k")) << verdict("q4_k").reason();
  EXPECT_EQ(verdict("q6_k").reason(), "block_gemm takes weights of one encoding");
}

/// A sum of the region's arguments that the product's epilogue adds, and that no input is made of, is
/// none that bulk copies' emitter computes: the kernel gets a kind that does.
TEST_F(ScheduleTest, IsOfAKindThatComputesTheWholeRegion) {
  module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<1x8192xf16>, %w: tensor<2048x8192xf16>, %r: tensor<1x2048xf16>,
             %c: tensor<2048xf32>) -> tensor<1x2048xf16> {
  %0 = tenon.kernel (%a = %x : tensor<1x8192xf16>, %b = %w : tensor<2048x8192xf16>,
                     %d = %r : tensor<1x2048xf16>, %e = %c : tensor<2048xf32>)
      -> tensor<1x2048xf16> {
    %s = tenon.add %d, %e : (tensor<1x2048xf16>, tensor<2048xf32>) -> tensor<1x2048xf16>
    %p = tenon.matmul %a, %b
        : (tensor<1x8192xf16>, tensor<2048x8192xf16>) -> tensor<1x2048xf16>
    %y = tenon.add %p, %s : (tensor<1x2048xf16>, tensor<1x2048xf16>) -> tensor<1x2048xf16>
    tenon.yield %y : tensor<1x2048xf16>
  }
  return %0 : tensor<1x2048xf16>
})",
                                       &context);
  ASSERT_TRUE(module);
  KernelOp kernel;
  module->walk([&](KernelOp found) { kernel = found; });
  auto scheduler = passes::schedule::Scheduler::create(*module, findTarget(&context, "h200"));
  ASSERT_TRUE(succeeded(scheduler));
  kernel.setScheduleAttr(scheduler->best(kernel));
  auto matched = readKernel(kernel);
  EXPECT_TRUE(matched) << matched.reason();
}

} // namespace
} // namespace tenon::tests
