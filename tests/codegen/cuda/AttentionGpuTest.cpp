// Attention with rope, norm and cache write in one kernel, over caches that earlier calls have filled:
// equal to its operations one by one in every bit, and close to the reference.
#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// One call of the step: a sequence and a position for each row.
struct Call {
  std::vector<double> sequences, positions;
};

struct AttentionStep {
  const char* name;
  int64_t rows, queryHeads, keyHeads, size, valueSize, capacity;
  std::vector<Call> calls;
  int64_t turned = 0;             ///< elements of a head that rope turns
  const char* pairing = "halves"; ///< of rope
  bool norms = false;             ///< of queries and keys
  std::string options = "";       ///< of attention
  std::string scores = "";        ///< `slopes` or `sinks`: which operand of attention %m is
  int64_t page = 0;               ///< positions of a page; 0: dense caches
  size_t kernels = 1;             ///< of the fused plan; 2: another one writes the caches

  /// Pages of a sequence, and of the pool, one of which no sequence has.
  int64_t blocks() const { return (capacity + page - 1) / page; }
  int64_t pages() const { return 3 * blocks() + 1; }
};

constexpr double huge = 2147483647;

/// Positions at 0, 1, the edges of a block's first steps and parts, and far on.
const std::vector<Call> oneRow = {{{1}, {0}},   {{1}, {1}},   {{1}, {127}}, {{1}, {128}},
                                  {{1}, {511}}, {{1}, {512}}, {{1}, {513}}};

/// Rows in turn of three sequences, `first` and the next ones: keys that fill steps and parts, and one
/// more or less; then all in one sequence, some twice, some inactive.
std::vector<Call> manyRows(int64_t rows, double first) {
  Call apart, shared;
  for (int64_t row = 0; row < rows; ++row) {
    apart.sequences.push_back(row % 3);
    apart.positions.push_back(row < 3 ? first + row : -1);
    shared.sequences.push_back(1);
    shared.positions.push_back(row % 5 == 4 ? -1 : first - row / 2);
  }
  return {apart, shared};
}

/// As many rows as make a head's block of 16, 12, 8 and 4 warps, and parts, on a device of 132
/// multiprocessors; head sizes with what is left of keys and values beside whole vectors.
std::vector<AttentionStep> severalRows() {
  return {
      {"rows3_80", 3, 32, 32, 80, 80, 700, manyRows(3, 511), 20},
      {"rows4_80", 4, 32, 32, 80, 80, 300, manyRows(4, 255), 20},
      {"rows8_80", 8, 32, 32, 80, 80, 300, manyRows(8, 127), 20},
      {"rows16_80", 16, 32, 32, 80, 80, 200, manyRows(16, 64), 20},
      {"rows16_64", 16, 32, 8, 64, 64, 300, manyRows(16, 256), 64, "adjacent"},
      {"rows8_128", 8, 32, 8, 128, 128, 600, manyRows(8, 512), 128, "adjacent"},
      {"rows16_128", 16, 32, 8, 128, 128, 300, manyRows(16, 192), 128, "adjacent"},
      {"rows16_heads128", 16, 32, 32, 128, 128, 200, manyRows(16, 64), 128, "adjacent"},
      {"rows17_96", 17, 8, 2, 96, 96, 300, manyRows(17, 256), 96},
      {"rows26_128", 26, 32, 8, 128, 128, 300, manyRows(26, 256), 128, "adjacent", false, "", "",
       /*page=*/0, /*kernels=*/2},
      {"rows32_64", 32, 8, 8, 64, 64, 300, manyRows(32, 127), 64, "adjacent", true},
      {"rows64_32_parts", 64, 16, 8, 32, 32, 2100, manyRows(64, 1100), 32},
      {"rows64_32", 64, 8, 2, 32, 32, 300, manyRows(64, 192), 32},
      {"rows4_96", 4, 32, 32, 96, 96, 300, manyRows(4, 191), 96},
      {"rows2_96_32", 2, 8, 4, 96, 32, 300, manyRows(2, 130), 96},
      {"rows2_112_48", 2, 16, 2, 112, 48, 300, manyRows(2, 128)},
      {"rows2_16_80", 2, 8, 8, 16, 80, 300, manyRows(2, 128), 16},
      {"rows8_256", 8, 16, 4, 256, 256, 300, manyRows(8, 129), 256, "halves", true},
      {"rows4_window", 4, 12, 12, 80, 80, 700, manyRows(4, 600), 20, "halves", false,
       "window = 130 : i64"},
      {"rows4_softcap", 4, 8, 1, 64, 64, 300, manyRows(4, 255), 64, "halves", false,
       "softcap = 50.0 : f64"},
      {"rows4_slopes", 4, 12, 12, 64, 64, 500, manyRows(4, 400), 0, "halves", false, "", "slopes"},
      {"rows3_full", 3, 8, 8, 80, 80, 300, manyRows(3, 150), 20, "halves", false, "causal = false"},
  };
}

/// Over pages: one row and several, heads with a ring of keys and without, steps of keys that begin
/// within a page, rows of one sequence, and positions after the caches.
std::vector<AttentionStep> stepsOverPages() {
  const std::vector<Call> turns = {{{1}, {0}}, {{1}, {127}}, {{0}, {128}}, {{2}, {400}}};
  auto over = [](AttentionStep step, int64_t page) {
    step.page = page;
    return step;
  };
  return {
      over({"pages_llama128", 1, 32, 8, 128, 128, 4200, turns, 128, "adjacent"}, 128),
      over({"pages_ring", 1, 8, 8, 128, 128, 2100, {{{1}, {1023}}, {{2}, {2090}}}, 128}, 64),
      over({"pages_llama64", 1, 32, 8, 64, 64, 4200, turns, 64, "adjacent"}, 16),
      over({"pages_qwen128", 1, 16, 8, 128, 128, 700, turns, 128, "halves", true}, 64),
      over({"pages_window", 1, 8, 2, 64, 64, 600, turns, 64, "halves", false, "window = 130 : i64"},
           32),
      over({"pages_rows16", 16, 32, 8, 128, 128, 300, manyRows(16, 192), 128, "adjacent"}, 128),
      over({"pages_rows4", 4, 32, 32, 80, 80, 300, manyRows(4, 255), 20}, 16),
      over({"pages_rows52", 52, 16, 4, 128, 128, 300, manyRows(52, 256), 128, "halves", false, "",
            "", /*page=*/0, /*kernels=*/2},
           16),
      over({"pages_beyond",
            1,
            8,
            2,
            64,
            64,
            256,
            {{{1}, {-1}}, {{1}, {256}}, {{1}, {huge}}, {{3}, {5}}, {{-1}, {5}}, {{1}, {255}}},
            64},
           32),
      over({"pages_chunk8",
            8,
            8,
            2,
            64,
            64,
            400,
            {{{1}, {0, 1, 2, 3, 4, 5, 6, 7}}, {{1}, {200, 201, 202, 203, 204, 205, 206, -1}}},
            64},
           16),
  };
}

std::vector<AttentionStep> allSteps() {
  std::vector<Call> far = oneRow;
  far.push_back({{0}, {4095}});
  far.push_back({{0}, {4096}});
  far.push_back({{2}, {4199}});
  const std::vector<Call> turns = {{{1}, {0}},   {{1}, {127}}, {{1}, {255}},
                                   {{1}, {256}}, {{1}, {400}}, {{1}, {599}}};
  return {
      {"llama64", 1, 32, 8, 64, 64, 4200, far, 64, "adjacent"},
      {"llama128", 1, 32, 8, 128, 128, 4200, far, 128, "adjacent"},
      {"heads128", 1, 32, 32, 128, 128, 600, turns, 128, "adjacent"},
      {"size40", 1, 12, 12, 40, 40, 1500, {{{1}, {0}}, {{2}, {1300}}, {{0}, {1499}}}, 40},
      {"far_window",
       1,
       32,
       8,
       64,
       64,
       4200,
       {{{1}, {2499}}, {{1}, {2500}}, {{1}, {4100}}},
       64,
       "halves",
       false,
       "window = 2500 : i64"},
      {"neox80", 1, 32, 32, 80, 80, 1100, oneRow, 20},
      {"qwen128", 1, 16, 8, 128, 128, 700, oneRow, 128, "halves", true},
      {"size96", 1, 8, 8, 96, 64, 700, oneRow, 96},
      {"size256", 1, 8, 4, 256, 256, 700, oneRow, 256, "halves", false, "softcap = 50.0 : f64"},
      {"window",
       1,
       8,
       2,
       64,
       64,
       1500,
       {{{1}, {0}}, {{1}, {129}}, {{1}, {1300}}},
       64,
       "halves",
       false,
       "window = 130 : i64"},
      {"slopes", 1, 12, 12, 64, 64, 700, oneRow, 0, "halves", false, "", "slopes"},
      {"sinks", 1, 8, 2, 64, 64, 700, oneRow, 64, "halves", false, "window = 130 : i64", "sinks"},
      {"no_rope", 1, 12, 12, 64, 64, 700, oneRow},
      {"one_key_head", 1, 12, 1, 64, 64, 2100, {{{1}, {0}}, {{0}, {700}}, {{2}, {2000}}}, 64},
      {"small", 1, 8, 4, 8, 8, 512, oneRow, 8, "adjacent"},
      {"beyond",
       1,
       8,
       2,
       64,
       64,
       300,
       {{{1}, {-1}}, {{1}, {300}}, {{1}, {huge}}, {{3}, {5}}, {{-1}, {5}}, {{1}, {299}}},
       64},
      {"rows2", 2, 8, 8, 80, 80, 700, {{{0, 1}, {5, 600}}, {{1, 0}, {511, 512}}}, 20},
      {"rows4",
       4,
       32,
       8,
       64,
       64,
       700,
       {{{0, 1, 2, 0}, {5, 600, 128, -1}},
        {{1, 1, 1, 2}, {7, 9, 8, 9}},
        {{2, 2, 2, 2}, {4, 4, 4, 3}}},
       64,
       "adjacent"},
      {"rows16",
       16,
       16,
       8,
       128,
       128,
       400,
       {{{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0},
         {300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311, 312, 313, 314, 399}},
        {{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, -1, 7, 1},
         {9, 9, 9, 8, 7, 8, 300, 301, -1, 400, 200, 200, 5, 5, 5, huge}}},
       128,
       "halves",
       true},
      {"chunk8",
       8,
       8,
       2,
       64,
       64,
       400,
       {{{1}, {0, 1, 2, 3, 4, 5, 6, 7}}, {{1}, {200, 201, 202, 203, 204, 205, 206, -1}}},
       64},
      {"full",
       1,
       4,
       2,
       64,
       64,
       300,
       {{{1}, {0}}, {{1}, {150}}},
       64,
       "halves",
       false,
       "causal = false"},
  };
}

struct Parameters {
  AttentionStep step;
  std::string type;
};

/// For the names of tests.
void PrintTo(const Parameters& p, std::ostream* out) { *out << p.step.name << "_" << p.type; }

constexpr const char* moduleText = R"(
module attributes {tenon.phase = #tenon.phase<simplified>} {
tenon.state @k : KEYS
tenon.state @v : VALUES
func.func @step(%q: tensor<MxQxDxT>, %k: tensor<MxHxDxT>, %v: tensor<MxHxExT>, %g: tensor<DxT>,
                %s: tensor<Sxi32>, %p: tensor<Mxi32>, %f: tensor<Fxf32>, %m: tensor<Qxf32>TABLE)
    -> tensor<MxQxExT> {
  %k0 = tenon.get_state @k : KEYS
  %v0 = tenon.get_state @v : VALUES
  CHAINS
  STEP_WRITES
  %y = tenon.attention QUERY, %k1, %v1, %s, %p SCORES BLOCKS scale 0.15 OPTIONS
      : (tensor<MxQxDxT>, KEYS, VALUES, tensor<Sxi32>,
         tensor<Mxi32>TYPESPAGED) -> tensor<MxQxExT>
  return %y : tensor<MxQxExT>
}
func.func @fill(%k: tensor<CxHxDxT>, %v: tensor<CxHxExT>, %s: tensor<1xi32>, %p: tensor<Cxi32>TABLE)
    -> tensor<1xi32> {
  %k0 = tenon.get_state @k : KEYS
  %v0 = tenon.get_state @v : VALUES
  FILL_WRITES
  return %s : tensor<1xi32>
}
})";

/// Norm and rope of `value`, as far as the step has them; leaves the name of their end in `value`.
std::string chainText(const AttentionStep& step, std::string& value, const std::string& shape) {
  std::string text, name = value;
  if (step.norms) {
    text += absl::StrReplaceAll("NAME_n = tenon.rms_norm VALUE, %g eps 1.0e-6 : (SHAPE, "
                                "tensor<DxT>) -> SHAPE\n",
                                {{"NAME", name}, {"VALUE", value}, {"SHAPE", shape}});
    value = name + "_n";
  }
  if (step.turned > 0) {
    text += absl::StrReplaceAll(
        "NAME_r = tenon.rope PAIRING VALUE, %p, %f : (SHAPE, "
        "tensor<Mxi32>, tensor<Fxf32>) -> SHAPE\n",
        {{"NAME", name}, {"PAIRING", step.pairing}, {"VALUE", value}, {"SHAPE", shape}});
    value = name + "_r";
  }
  return text;
}

/// The write of `key` and %v, of so many rows and sequences, to the caches.
std::string writesText(const std::string& key, const char* rows, const char* sequences) {
  return absl::StrReplaceAll(R"(%k1 = tenon.kv_write KEY, %s, %p into %k0 BLOCKS
      : (tensor<ROWSxHxDxT>, tensor<SEQUENCESxi32>, tensor<ROWSxi32>, KEYSPAGED) -> KEYS
  %v1 = tenon.kv_write %v, %s, %p into %v0 BLOCKS
      : (tensor<ROWSxHxExT>, tensor<SEQUENCESxi32>, tensor<ROWSxi32>, VALUESPAGED) -> VALUES)",
                             {{"KEY,", key + ","}, {"ROWS", rows}, {"SEQUENCES", sequences}});
}

std::string textOf(const Parameters& p) {
  const AttentionStep& step = p.step;
  std::string query = "%q", key = "%k";
  std::string chains =
      chainText(step, query, "tensor<MxQxDxT>") + chainText(step, key, "tensor<MxHxDxT>");
  std::string text = absl::StrReplaceAll(moduleText, {{"CHAINS", chains},
                                                      {"STEP_WRITES", writesText(key, "M", "S")},
                                                      {"FILL_WRITES", writesText("%k", "C", "1")}});
  text = absl::StrReplaceAll(
      text,
      {{"QUERY", query},
       {"SCORES", step.scores.empty() ? "" : step.scores + " %m"},
       {"TYPES", step.scores.empty() ? "" : ", tensor<Qxf32>"},
       {"OPTIONS", step.options.empty() ? "" : "{" + step.options + "}"},
       {"KEYS", step.page > 0 ? "!tenon.state<GxHxPxDxT, paged<PAGE>>" : "!tenon.state<3xCxHxDxT>"},
       {"VALUES",
        step.page > 0 ? "!tenon.state<GxHxPxExT, paged<PAGE>>" : "!tenon.state<3xCxHxExT>"},
       {"TABLE", step.page > 0 ? ", %t: tensor<3xBxi32>" : ""},
       {"BLOCKS", step.page > 0 ? "block_table %t" : ""},
       {"PAGED", step.page > 0 ? ", tensor<3xBxi32>" : ""}});
  absl::StrReplaceAll({{"PAGE", std::to_string(step.page)}}, &text);
  auto extent = [](int64_t n) { return std::to_string(n) + "x"; };
  // A dimension stands after `<` or `x`.
  for (auto [letter, value] : {std::pair{"M", step.rows},
                               {"Q", step.queryHeads},
                               {"H", step.keyHeads},
                               {"D", step.size},
                               {"E", step.valueSize},
                               {"C", step.capacity},
                               {"S", static_cast<int64_t>(step.calls[0].sequences.size())},
                               {"F", std::max<int64_t>(step.turned / 2, 1)},
                               {"G", step.page > 0 ? step.pages() : 0},
                               {"P", step.page},
                               {"B", step.page > 0 ? step.blocks() : 0}})
    for (const char* before : {"<", "x"})
      absl::StrReplaceAll({{before + std::string(letter) + "x", before + extent(value)}}, &text);
  absl::StrReplaceAll({{"xT>", "x" + p.type + ">"}, {"xT,", "x" + p.type + ","}}, &text);
  return text;
}

absl::StatusOr<runtime::Program> compileStep(mlir::MLIRContext& context, const std::string& text,
                                             passes::Plan plan,
                                             mlir::OwningOpRef<mlir::ModuleOp>& module) {
  auto parsed = frontends::parseModuleText(context, text, "step");
  if (!parsed.ok())
    return parsed.status();
  module = *std::move(parsed);
  passes::PipelineOptions options = {.target = findTarget(&context, "h200")};
  options.fusion.plan = plan;
  if (absl::Status status = passes::runPipeline(*module, options); !status.ok())
    return status;
  return codegen::compileForCuda(*module, {});
}

CaseInput listed(std::vector<double> values) {
  return {{static_cast<int64_t>(values.size())}, "i32", Fill::Listed, 0, 0, std::move(values)};
}

/// Adds the block table where there is one: sequences have pages in turn, the last ones first.
void addBlockTable(const AttentionStep& step, std::vector<CaseInput>& inputs) {
  if (step.page == 0)
    return;
  std::vector<double> table;
  for (int64_t sequence = 0; sequence < 3; ++sequence)
    for (int64_t block = 0; block < step.blocks(); ++block)
      table.push_back(static_cast<double>(3 * (step.blocks() - block) - sequence));
  inputs.push_back({{3, step.blocks()}, "i32", Fill::Listed, 0, 0, table});
}

std::vector<CaseInput> fillInputs(const Parameters& p, int64_t sequence) {
  const AttentionStep& step = p.step;
  std::vector<double> positions(step.capacity);
  for (auto [i, position] : llvm::enumerate(positions))
    position = i;
  std::vector<CaseInput> inputs = {{{step.capacity, step.keyHeads, step.size}, p.type},
                                   {{step.capacity, step.keyHeads, step.valueSize}, p.type},
                                   listed({static_cast<double>(sequence)}),
                                   listed(positions)};
  addBlockTable(step, inputs);
  return inputs;
}

std::vector<CaseInput> stepInputs(const Parameters& p, const Call& call) {
  const AttentionStep& step = p.step;
  std::vector<double> frequencies(std::max<int64_t>(step.turned / 2, 1));
  for (auto [i, frequency] : llvm::enumerate(frequencies))
    frequency = std::pow(10000.0, -2.0 * i / std::max<int64_t>(step.turned, 2));
  std::vector<CaseInput> inputs = {
      {{step.rows, step.queryHeads, step.size}, p.type},
      {{step.rows, step.keyHeads, step.size}, p.type},
      {{step.rows, step.keyHeads, step.valueSize}, p.type},
      {{step.size}, p.type},
      listed(call.sequences),
      listed(call.positions),
      {{static_cast<int64_t>(frequencies.size())}, "f32", Fill::Listed, 0, 0, frequencies},
      {{step.queryHeads}, "f32"}};
  addBlockTable(step, inputs);
  return inputs;
}

class CudaAttentionTest : public ::testing::TestWithParam<Parameters> {
protected:
  void SetUp() override {
    std::string text = textOf(GetParam());
    auto fusedProgram = compileStep(context, text, passes::Plan::Fused, fusedModule);
    ASSERT_TRUE(fusedProgram.ok()) << fusedProgram.status() << text;
    ASSERT_EQ(fusedProgram->functions[0].steps.size(), GetParam().step.kernels) << text;
    mlir::OwningOpRef<mlir::ModuleOp> splitModule;
    auto splitProgram = compileStep(context, text, passes::Plan::Split, splitModule);
    ASSERT_TRUE(splitProgram.ok()) << splitProgram.status();
    auto onDevice = runtime::CudaExecutor::create(*std::move(fusedProgram), {});
    if (absl::IsNotFound(onDevice.status()))
      GTEST_SKIP() << "no GPU: " << onDevice.status();
    ASSERT_TRUE(onDevice.ok()) << onDevice.status();
    fused = *std::move(onDevice);
    onDevice = runtime::CudaExecutor::create(*std::move(splitProgram), {});
    ASSERT_TRUE(onDevice.ok()) << onDevice.status();
    split = *std::move(onDevice);
    auto made = Interpreter::create(*fusedModule);
    ASSERT_TRUE(made.ok()) << made.status();
    interpreter = *std::move(made);
  }

  /// The same call everywhere; results of the step are compared.
  void call(size_t function, const char* name, llvm::ArrayRef<CaseInput> described, unsigned seed) {
    std::vector<ReferenceTensor> inputs = makeInputs(context, described, seed);
    auto expected = interpreter->run(name, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto fusedOutputs = runOnDevice(*fused, inputs, function);
    ASSERT_TRUE(fusedOutputs.ok()) << fusedOutputs.status();
    auto splitOutputs = runOnDevice(*split, inputs, function);
    ASSERT_TRUE(splitOutputs.ok()) << splitOutputs.status();
    EXPECT_EQ(*fusedOutputs, *splitOutputs);
    double tolerance = GetParam().type == "f16" ? 2e-3 : 2e-2;
    expectClose(expected->front(), fusedOutputs->front(), tolerance, "result");
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> fusedModule;
  std::unique_ptr<runtime::CudaExecutor> fused, split;
  std::unique_ptr<Interpreter> interpreter;
};

/// Each call replays the graph of the first one with other positions. A second round reads what the
/// first one has written, one position further on.
TEST_P(CudaAttentionTest, EqualsItsOperationsOneByOneInEveryBit) {
  unsigned seed = 1;
  for (int64_t sequence = 0; sequence < 3; ++sequence)
    call(1, "fill", fillInputs(GetParam(), sequence), seed += 100);
  for (Call now : GetParam().step.calls)
    for (int round = 0; round < 2; ++round) {
      SCOPED_TRACE(::testing::Message()
                   << "position " << now.positions[0] << " of sequence " << now.sequences[0]);
      call(0, "step", stepInputs(GetParam(), now), seed += 100);
      for (double& position : now.positions)
        position += position >= 0 && position < huge ? 1 : 0;
    }
}

std::vector<Parameters> allParameters() {
  std::vector<Parameters> all;
  std::vector<AttentionStep> steps = allSteps();
  llvm::append_range(steps, severalRows());
  llvm::append_range(steps, stepsOverPages());
  for (const AttentionStep& step : steps)
    for (const char* type : {"f16", "bf16"})
      all.push_back({step, type});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Steps, CudaAttentionTest, ::testing::ValuesIn(allParameters()),
                         [](const auto& info) {
                           return std::string(info.param.step.name) + "_" + info.param.type;
                         });

} // namespace
} // namespace tenon::testing
