#include <cstring>

#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "nlohmann/json.hpp"
#include "passes/Pipeline.h"
#include "runtime/program/ModelPorts.h"
#include "tests/common/StatusMatchers.h"
#include "tools/bench/BenchModel.h"
#include "tools/bench/BenchReport.h"
#include "tools/bench/Distribution.h"
#include "tools/bench/FunctionWork.h"
#include "tools/bench/TimelineReport.h"

namespace tenon::tools {
namespace {

using runtime::Role;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::FailsWith;

TEST(Distribution, OfSamples) {
  std::vector<uint64_t> samples;
  for (uint64_t i = 1; i <= 200; ++i)
    samples.push_back((i * 77) % 201); // 1 to 200 in another order
  Distribution result = summarize(samples);
  EXPECT_EQ(result.minNs, 1u);
  EXPECT_EQ(result.medianNs, 100u);
  EXPECT_EQ(result.p90Ns, 180u);
  EXPECT_EQ(result.p95Ns, 190u);
  EXPECT_EQ(result.p99Ns, 198u);
  EXPECT_EQ(result.maxNs, 200u);
  EXPECT_DOUBLE_EQ(result.meanNs, 100.5);
  EXPECT_NEAR(result.deviationNs, 57.879, 1e-3);
  EXPECT_EQ(summarize({7}).p99Ns, 7u);
  EXPECT_EQ(summarize({7}).deviationNs, 0);
}

/// Remembers the calls; each takes 5 ns, each step 2. The most likely token of one row is its
/// position, `shift` further.
class FakeExecutor final : public runtime::Executor {
public:
  explicit FakeExecutor(runtime::Program program) : held(std::move(program)) {}

  const runtime::Program& program() const override { return held; }
  absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override {
    EXPECT_THAT(outputs[0].size(), AnyOf(held.functions[function].outputs[0].bytes, 0u));
    std::vector<int32_t>& call = positions.emplace_back(inputs[2].size() / sizeof(int32_t));
    std::memcpy(call.data(), inputs[2].data(), inputs[2].size());
    if (outputs[0].size() == 50 * sizeof(float)) {
      std::ranges::fill(outputs[0], std::byte(0));
      float one = 1;
      std::memcpy(&outputs[0][(call[0] + shift) % 50 * sizeof(one)], &one, sizeof(one));
    }
    if (profiling)
      steps[0].add(0, 2);
    return absl::OkStatus();
  }
  absl::Status repeatSteps(size_t function, int64_t times) override {
    if (!keepsInputs)
      return Executor::repeatSteps(function, times);
    repeated += times;
    if (profiling)
      steps[0].add(0, 2);
    return absl::OkStatus();
  }
  absl::Status resetStates() override {
    positions.clear();
    return absl::OkStatus();
  }
  uint64_t lastStepsNs() const override { return 5; }
  /// Of each call, two blocks of the one step, one after the other.
  absl::StatusOr<std::vector<std::vector<runtime::BlockStamps>>>
  readStamps(size_t function) override {
    return std::vector<std::vector<runtime::BlockStamps>>{{{1'000, 0, 2'000}, {2'000, 0, 3'000}}};
  }
  absl::StatusOr<runtime::MemoryTraffic> countTraffic(size_t function) override {
    if (!counts)
      return Executor::countTraffic(function);
    return runtime::MemoryTraffic{.readBytes = 100 + function, .writtenBytes = positions.size()};
  }
  void setProfiling(bool enabled) override { profiling = enabled; }
  std::span<const runtime::StepProfile> profile(size_t function) const override { return steps; }

  runtime::Program held;
  std::vector<std::vector<int32_t>> positions; ///< of each call
  std::vector<runtime::StepProfile> steps = std::vector<runtime::StepProfile>(1);
  bool profiling = false;
  bool counts = true;       ///< what memory moves
  bool keepsInputs = false; ///< so that steps can be repeated
  int64_t repeated = 0;
  int32_t shift = 0;
};

runtime::Program makeProgram(Role role, int64_t rows) {
  runtime::Program program;
  program.model = runtime::ModelInfo{"fake", "fake", 50, 16, 4};
  program.kernels = {{"k0_matmul", 0, {}}};
  runtime::ModelPorts ports = runtime::modelPorts(role, rows, *program.model);
  program.functions = {{"f",
                        role,
                        rows,
                        std::move(ports.inputs),
                        {std::move(ports.logits)},
                        {{0, 1, {}, "blk.0.attn_q: matmul"}}}};
  return program;
}

TEST(ModelBench, FillsTheCacheAndMeasuresAtThePosition) {
  FakeExecutor executor(makeProgram(Role::Decode, 2));
  ModelBench bench = ModelBench::create(executor, Role::Decode, 2,
                                        {.position = 3, .warmupCalls = 1, .profiledCalls = 4})
                         .value();
  ASSERT_THAT(bench.prepare(), tests::IsOk());
  EXPECT_THAT(executor.positions, ElementsAre(ElementsAre(0, 0), ElementsAre(1, 1),
                                              ElementsAre(2, 2), ElementsAre(3, 3)));
  ASSERT_THAT(bench.call(), tests::IsOk());
  ASSERT_THAT(bench.call(), tests::IsOk());
  EXPECT_THAT(bench.result().stepsNs, ElementsAre(5, 5));
  EXPECT_EQ(bench.result().callNs.size(), 2u);
  ASSERT_THAT(bench.profile(), tests::IsOk());
  EXPECT_THAT(bench.result().profileNs, ElementsAre(2));
  EXPECT_EQ(executor.positions.size(), 10u);
  EXPECT_FALSE(executor.profiling);
}

/// Each sequence has as many keys as its chunk says; rows that are left over are idle.
TEST(ModelBench, TakesChunksOfUnlikeLengths) {
  FakeExecutor executor(makeProgram(Role::Decode, 4));
  ModelBench decode =
      ModelBench::create(executor, Role::Decode, 4, {.chunks = {{1}, {3, 2}}, .warmupCalls = 1})
          .value();
  ASSERT_THAT(decode.prepare(), tests::IsOk());
  EXPECT_THAT(executor.positions,
              ElementsAre(ElementsAre(0, 0, -1, -1), ElementsAre(1, -1, -1, -1),
                          ElementsAre(2, -1, -1, -1), ElementsAre(1, 3, 4, -1)));
  FakeExecutor mixing(makeProgram(Role::Mixed, 4));
  ModelBench mixed =
      ModelBench::create(mixing, Role::Mixed, 4, {.chunks = {{5}, {0, 3}}, .warmupCalls = 1})
          .value();
  ASSERT_THAT(mixed.prepare(), tests::IsOk());
  EXPECT_THAT(mixing.positions, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, -1, -1, -1),
                                            ElementsAre(5, 0, 1, 2)));
  for (const std::vector<tools::TokenChunk>& chunks :
       {std::vector<tools::TokenChunk>{{0, 5}}, std::vector<tools::TokenChunk>(5, {0, 0})})
    EXPECT_THAT(ModelBench::create(executor, Role::Decode, 4, {.chunks = chunks}),
                FailsWith(absl::StatusCode::kInvalidArgument,
                          HasSubstr("--position: expects at most 4 rows of 4 sequences, but got")));
  EXPECT_THAT(ModelBench::create(executor, Role::Decode, 4, {.chunks = {{14, 3}}}),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("holds, but got 16")));
}

TEST(ModelBench, PrefillsFromPositionZero) {
  FakeExecutor executor(makeProgram(Role::Prefill, 3));
  ModelBench bench =
      ModelBench::create(executor, Role::Prefill, 3, {.position = 0, .warmupCalls = 1}).value();
  ASSERT_THAT(bench.prepare(), tests::IsOk());
  EXPECT_THAT(executor.positions, ElementsAre(ElementsAre(0, 1, 2)));
}

/// A chunk of one sequence and a row of each other one, behind tokens that chunks have fed.
TEST(ModelBench, MixesAChunkWithRowsOfOtherSequences) {
  FakeExecutor executor(makeProgram(Role::Mixed, 6));
  ModelBench bench =
      ModelBench::create(executor, Role::Mixed, 6, {.position = 7, .warmupCalls = 0}).value();
  ASSERT_THAT(bench.prepare(), tests::IsOk());
  ASSERT_EQ(executor.positions.size(), 4u * 2);
  for (size_t call = 0; call < executor.positions.size(); call += 2) {
    EXPECT_THAT(executor.positions[call], ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(executor.positions[call + 1], ElementsAre(6, -1, -1, -1, -1, -1));
  }
  ASSERT_THAT(bench.call(), tests::IsOk());
  EXPECT_THAT(executor.positions.back(), ElementsAre(7, 8, 9, 7, 7, 7));
  EXPECT_THAT(
      ModelBench::create(executor, Role::Mixed, 6, {.position = 14}),
      FailsWith(
          absl::StatusCode::kInvalidArgument,
          HasSubstr("expects positions from 0 up to 15, the last that the context of the program "
                    "holds, but got 16")));
  EXPECT_THAT(ModelBench::create(executor, Role::Mixed, 5, {}),
              FailsWith(absl::StatusCode::kNotFound,
                        HasSubstr("expects a language model with a mixed function of 5 rows")));
}

TEST(ModelBench, FeedsTheMostLikelyTokens) {
  FakeExecutor executor(makeProgram(Role::Decode, 1));
  ModelBench bench =
      ModelBench::create(executor, Role::Decode, 1, {.position = 2, .generatedTokens = 3}).value();
  ASSERT_THAT(bench.generate(), tests::IsOk());
  EXPECT_EQ(bench.result().tokenNs.size(), 3u);
  ASSERT_EQ(executor.positions.size(), 3u + warmupTokens);
  for (size_t i = 0; i < executor.positions.size(); ++i)
    EXPECT_THAT(executor.positions[i], ElementsAre(2 + static_cast<int32_t>(i)));
  EXPECT_THAT(bench.result().tokenIds, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(ModelBench::create(executor, Role::Decode, 1, {.position = 2, .generatedTokens = 6}),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("up to 15, the last")));
}

TEST(ModelBench, ExpectsEqualGenerations) {
  FakeExecutor executor(makeProgram(Role::Decode, 1));
  ModelBench bench =
      ModelBench::create(executor, Role::Decode, 1, {.position = 2, .generatedTokens = 3}).value();
  EXPECT_THAT(bench.generate(), tests::IsOk());
  EXPECT_THAT(bench.generate(), tests::IsOk());
  executor.shift = 1;
  EXPECT_THAT(bench.generate(),
              FailsWith(absl::StatusCode::kInternal, HasSubstr("but token 0 is 3, not 2")));
}

TEST(ModelBench, RunsEachGroupAlone) {
  FakeExecutor executor(makeProgram(Role::Decode, 1));
  executor.held.functions[0].sharedPercent = 75;
  std::vector<GroupFunction> groups =
      addGroupFunctions(executor.held, 0, std::vector<std::string>{"ffn"});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(executor.held.functions[groups[0].function].name, "f.ffn");
  EXPECT_EQ(executor.held.functions[groups[0].function].role, Role::Other);
  EXPECT_EQ(executor.held.functions[groups[0].function].sharedPercent, 0)
      << "a group changes what the kernels of the whole prefer";
  EXPECT_EQ(executor.held.functions[groups[0].function].steps, executor.held.functions[0].steps);
  ModelBench bench = ModelBench::create(executor, Role::Decode, 1, {.position = 2}).value();
  ASSERT_THAT(bench.callGroups(groups, /*calls=*/2), tests::IsOk());
  EXPECT_THAT(bench.result().groupNs, ElementsAre(ElementsAre(5, 5)));
}

TEST(ModelBench, CountsWhatMemoryMoves) {
  FakeExecutor executor(makeProgram(Role::Decode, 1));
  std::vector<GroupFunction> groups =
      addGroupFunctions(executor.held, 0, std::vector<std::string>{"ffn"});
  ModelBench bench = ModelBench::create(executor, Role::Decode, 1, {.position = 2}).value();
  executor.counts = false;
  EXPECT_THAT(bench.countTraffic(groups),
              FailsWith(absl::StatusCode::kUnimplemented, HasSubstr("no counter of this device")));
  EXPECT_FALSE(bench.result().traffic.has_value());
  executor.counts = true;
  executor.positions.clear();
  ASSERT_THAT(bench.countTraffic(groups), tests::IsOk());
  EXPECT_THAT(executor.positions, ElementsAre(ElementsAre(2), ElementsAre(2)));
  EXPECT_EQ(bench.result().traffic->readBytes, 100u);
  ASSERT_EQ(bench.result().groupTraffic.size(), 1u);
  EXPECT_EQ(bench.result().groupTraffic[0].readBytes, 100 + groups[0].function);
  EXPECT_EQ(bench.result().groupTraffic[0].writtenBytes, 2u) << "after the group's own call";
}

TEST(ModelBench, CallsAGraphOnTheSameInputs) {
  FakeExecutor executor(makeProgram(Role::Other, 1));
  std::vector<std::vector<std::byte>> inputs(3, std::vector<std::byte>(sizeof(int32_t)));
  inputs[2][0] = std::byte(9);
  ModelBench bench = ModelBench::ofGraph(executor, 0, inputs, {.position = 2, .warmupCalls = 2});
  ASSERT_THAT(bench.prepare(), tests::IsOk());
  ASSERT_THAT(bench.call(), tests::IsOk());
  EXPECT_THAT(executor.positions, ElementsAre(ElementsAre(9), ElementsAre(9), ElementsAre(9)));
  EXPECT_EQ(bench.results().size(), 1u);
}

TEST(ModelBench, RepeatsStepsWhereTheDeviceKeepsInputs) {
  FakeExecutor executor(makeProgram(Role::Other, 1));
  executor.keepsInputs = true;
  std::vector<std::vector<std::byte>> inputs(3, std::vector<std::byte>(sizeof(int32_t)));
  ModelBench bench = ModelBench::ofGraph(executor, 0, inputs,
                                         {.position = 2, .warmupCalls = 5, .profiledCalls = 4});
  ASSERT_THAT(bench.prepare(), tests::IsOk());
  EXPECT_EQ(executor.positions.size(), 2u) << "calls that warm up, beside the first and the last";
  EXPECT_EQ(executor.repeated, 3);
  ASSERT_THAT(bench.profile(), tests::IsOk());
  EXPECT_EQ(executor.positions.size(), 4u);
  EXPECT_EQ(executor.repeated, 5);
  EXPECT_THAT(bench.result().profileNs, ElementsAre(2));
}

TEST(ModelBench, ReadsTheStampsOfEachCall) {
  FakeExecutor executor(makeProgram(Role::Decode, 1));
  ModelBench bench =
      ModelBench::create(executor, Role::Decode, 1, {.position = 2, .profiledCalls = 3}).value();
  auto timelines = bench.timelines();
  ASSERT_THAT(timelines, tests::IsOk());
  ASSERT_EQ(timelines->size(), 3u);
  EXPECT_DOUBLE_EQ(timelines->front().totalNs(), 2'000);
  EXPECT_THAT(bench.result().stepsNs, ElementsAre(5, 5, 5));
}

TEST(ModelBench, RefusesWhatTheProgramHasNot) {
  FakeExecutor executor(makeProgram(Role::Decode, 2));
  EXPECT_THAT(ModelBench::create(executor, Role::Decode, 1, {}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("a decode function of 1 rows")));
  EXPECT_THAT(ModelBench::create(executor, Role::Decode, 2, {.position = 16}),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("up to 15, the last")));
  executor.held.model.reset();
  EXPECT_THAT(ModelBench::create(executor, Role::Decode, 2, {.position = 1}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("a language model")));
}

/// Attention over a cache after a product.
constexpr const char* graph = R"(
tenon.file @m "m.gguf" bytes 65536 fingerprint 0
tenon.weight @w : tensor<64x128xf16> from [#tenon.range<@m, offset = 0, bytes = 16384>]
tenon.state @k : !tenon.state<1x100x2x32xf16>
tenon.state @v : !tenon.state<1x100x2x32xf16>
func.func @f(%x: tensor<1x128xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x2x32xf16> {
  %w = tenon.get_weight @w : tensor<64x128xf16>
  %k = tenon.get_state @k : !tenon.state<1x100x2x32xf16>
  %v = tenon.get_state @v : !tenon.state<1x100x2x32xf16>
  %q = tenon.matmul %x, %w : (tensor<1x128xf16>, tensor<64x128xf16>) -> tensor<1x64xf16>
  %h = tenon.reshape %q to [1, 2, 32] : (tensor<1x64xf16>) -> tensor<1x2x32xf16>
  %y = tenon.attention %h, %k, %v, %s, %p scale 1.0 : (tensor<1x2x32xf16>, !tenon.state<1x100x2x32xf16>, !tenon.state<1x100x2x32xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x32xf16>
  return %y : tensor<1x2x32xf16>
})";

TEST(FunctionWork, ReadsTheKeysThatThereAre) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, graph, "test");
  ASSERT_THAT(module, tests::IsOk());
  ASSERT_THAT(passes::runPipeline(**module, {.target = findTarget(&context, "h200")}),
              tests::IsOk());
  std::vector<StepWork> work = computeWork(**module, "f", 24).value();
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].flops, 2 * 64 * 128);
  EXPECT_EQ(work[0].weightBytes, 16384);
  EXPECT_EQ(work[0].otherBytes, 2 * (128 + 64));
  EXPECT_EQ(work[1].weightBytes, 0);
  // 25 of 100 keys and values, the query, the result, sequence and position.
  EXPECT_EQ(work[1].otherBytes, 2 * 25 * 64 * 2 + 2 * 64 * 2 + 8);
  EXPECT_THAT(computeWork(**module, "g", 0),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("'g'")));
}

/// Attention over a cache that the same kernel writes to.
constexpr const char* graphWithWrite = R"(
tenon.state @k : !tenon.state<1x100x2x64xf16>
tenon.state @v : !tenon.state<1x100x2x64xf16>
func.func @f(%q: tensor<1x2x64xf16>, %n: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x2x64xf16> {
  %k = tenon.get_state @k : !tenon.state<1x100x2x64xf16>
  %v = tenon.get_state @v : !tenon.state<1x100x2x64xf16>
  %kw = tenon.kv_write %n, %s, %p into %k : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x100x2x64xf16>) -> !tenon.state<1x100x2x64xf16>
  %vw = tenon.kv_write %n, %s, %p into %v : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x100x2x64xf16>) -> !tenon.state<1x100x2x64xf16>
  %y = tenon.attention %q, %kw, %vw, %s, %p scale 1.0 : (tensor<1x2x64xf16>, !tenon.state<1x100x2x64xf16>, !tenon.state<1x100x2x64xf16>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x64xf16>
  return %y : tensor<1x2x64xf16>
})";

TEST(FunctionWork, ReadsTheKeysOfACacheThatItsKernelWrites) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, graphWithWrite, "test");
  ASSERT_THAT(module, tests::IsOk());
  ASSERT_THAT(passes::runPipeline(**module, {.target = findTarget(&context, "h200"),
                                             .fusion = {.plan = passes::Plan::Fused}}),
              tests::IsOk());
  std::vector<StepWork> work = computeWork(**module, "f", 24).value();
  ASSERT_EQ(work.size(), 1u);
  // 25 of 100 keys and values, the query, the new row, twice written, the result, sequence and
  // position.
  EXPECT_EQ(work[0].otherBytes, 2 * 25 * 128 * 2 + 5 * 128 * 2 + 8);
}

TEST(StepGroups, KnowsThePartsOfAModel) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, R"(
func.func @f(%x: tensor<1x64xf32>, %g: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %1 = tenon.matmul %0, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> loc("blk.0.attn_q")
  %2 = tenon.matmul %1, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> loc("blk.0.ffn_up")
  %3 = tenon.glu silu %2, %1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %4 = tenon.softmax %3 : (tensor<1x64xf32>) -> tensor<1x64xf32> loc("blk.0.ffn_experts.softmax")
  %5 = tenon.matmul %4, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> loc("output")
  return %5 : tensor<1x64xf32>
})",
                                           "test");
  ASSERT_THAT(module, tests::IsOk());
  ASSERT_THAT(passes::runPipeline(**module, {.target = findTarget(&context, "h200")}),
              tests::IsOk());
  EXPECT_THAT(groupSteps(**module, "f").value(),
              ElementsAre("norm", "attention", "ffn", "ffn", "ffn", "other"));
  EXPECT_THAT(groupSteps(**module, "g"), FailsWith(absl::StatusCode::kNotFound, HasSubstr("'g'")));
}

TEST(BenchReport, NamesTheKernelsAndTheReadLimit) {
  runtime::Program program = makeProgram(Role::Decode, 2);
  BenchReport report;
  report.plan = "unfused", report.launch = "graph", report.model = "m", report.device = "h200",
  report.activations = "f16";
  report.function = "f", report.position = 7, report.deviceBytes = 1000, report.readMBs = 4000000;
  report.times.stepsNs = {200, 100, 300};
  report.times.callNs = {210, 110, 310};
  report.times.profileNs = {80};
  report.times.tokenNs = {220, 230, 250};
  report.times.groupNs = {{190, 200, 210}};
  report.groups = {{"ffn", 1, {0}}};
  report.work = {{.flops = 10, .weightBytes = 400000, .otherBytes = 8}};
  EXPECT_FALSE(describeReport(report, program, 0).contains("predicted_ns"));
  EXPECT_TRUE(describeReport(report, program, 0)["counted_bytes"].is_null());
  EXPECT_TRUE(describeReport(report, program, 0)["groups"][0]["counted_bytes"].is_null());
  report.times.traffic = {.readBytes = 380000, .writtenBytes = 50000};
  report.times.groupTraffic = {{.readBytes = 390000, .writtenBytes = 0}};
  EXPECT_THAT(formatReport(report, program, 0), Not(HasSubstr("the cost model says")));
  report.predictedNs = {110}, report.predictedBeyondNs = 40;
  nlohmann::ordered_json json = describeReport(report, program, 0);
  EXPECT_EQ(json["steps_ns"]["median"], 200);
  EXPECT_EQ(json["call_ns"]["max"], 310);
  EXPECT_EQ(json["launch"], "graph");
  EXPECT_DOUBLE_EQ(json["read_limit_percent"].get<double>(), 50); // 100 ns at 4,000 GB/s
  EXPECT_EQ(json["kernels"][0]["symbol"], "k0_matmul");
  EXPECT_EQ(json["kernels"][0]["bytes"], 400008);
  EXPECT_EQ(json["kernels"][0]["predicted_ns"], 110);
  EXPECT_EQ(json["predicted_ns"], 150);
  EXPECT_EQ(json["planned_bytes"], 400008);
  EXPECT_EQ(json["counted_bytes"], 430000);
  EXPECT_EQ(json["counted_written_bytes"], 50000);
  EXPECT_EQ(json["groups"][0]["counted_bytes"], 390000);
  EXPECT_NEAR(json["fixed_us_per_layer"].get<double>(), 0.099998, 1e-9); // 200 ns less 100.002 ns
  EXPECT_EQ(json["token_ns"]["median"], 230);
  EXPECT_EQ(json["groups"][0]["name"], "ffn");
  EXPECT_EQ(json["groups"][0]["ns"], 200);
  EXPECT_NEAR(json["groups"][0]["read_limit_percent"].get<double>(), 50, 0.01);
  std::string text = formatReport(report, program, 0);
  EXPECT_THAT(text,
              HasSubstr("m, plan unfused, f at position 7 on h200, launch graph, activations f16: "
                        "3 calls"));
  EXPECT_THAT(text, HasSubstr("blk.0.attn_q: matmul"));
  EXPECT_THAT(text, HasSubstr("the cost model says 0.0001 ms, 75.0 % of the median"));
  EXPECT_THAT(text, HasSubstr("memory moved 0.4 MB by its counters, 0.1 MB of them written"));
  EXPECT_THAT(text, HasSubstr("beyond all bytes at that rate 0.10 us a layer of 1"));
}

TEST(BenchReport, SaysNothingOfLayersWhereItCannotKnow) {
  runtime::Program program = makeProgram(Role::Decode, 2);
  BenchReport report;
  report.readMBs = 4000000;
  report.times.stepsNs = {100};
  report.times.callNs = {100};
  report.work = {{.weightBytes = 400008}};
  auto says = [&] { return describeReport(report, program, 0).contains("fixed_us_per_layer"); };
  EXPECT_FALSE(says()) << "the bytes came faster";
  report.work = {{.weightBytes = 4000}};
  EXPECT_TRUE(says());
  report.readMBs = 0;
  EXPECT_FALSE(says()) << "of a target without a rate";
  report.readMBs = 4000000;
  program.functions[0].role = Role::Prefill;
  EXPECT_FALSE(says());
  program.functions[0].role = Role::Decode;
  program.functions[0].steps[0].name = "output: matmul";
  EXPECT_FALSE(says()) << "of a graph without layers";
}

/// Three steps, the last without stamps after it; `gapNs` between the first two.
runtime::StepTimeline makeTimeline(double gapNs) {
  runtime::StepTimeline timeline;
  timeline.steps.resize(3);
  timeline.steps[0] = {.blocks = 4, .firstExitNs = 90, .lastExitNs = 100};
  timeline.steps[2] = {.blocks = 2,
                       .firstEntryNs = 60,
                       .lastEntryNs = 70,
                       .firstWorkNs = 100 + gapNs,
                       .lastWorkNs = 110 + gapNs,
                       .firstExitNs = 150 + gapNs,
                       .lastExitNs = 200 + gapNs,
                       .gapNs = gapNs,
                       .aheadNs = 40,
                       .unstampedBefore = 1};
  timeline.workNs = 200;
  timeline.unstampedNs = gapNs;
  return timeline;
}

TEST(TimelineReport, TakesMediansOverTheCalls) {
  runtime::Program program = makeProgram(Role::Decode, 1);
  program.kernels.push_back({"cublaslt", 0, runtime::LibraryMatmul{}});
  program.functions[0].steps = {{0, 4, {}, "first"}, {1, 1, {}, "product"}, {0, 2, {}, "last"}};
  MeasuredTimelines measured = {
      {makeTimeline(1'000), makeTimeline(100), makeTimeline(300), makeTimeline(200)},
      {900, 700, 800, 600}};
  BenchReport report;
  report.readMBs = 1'000;
  report.times.stepsNs = {500};
  report.work = {{.weightBytes = 50}, {.weightBytes = 7}, {.weightBytes = 150}};
  EXPECT_EQ(typicalCall(measured).unstampedNs, 200);
  nlohmann::ordered_json json = describeTimeline(measured, report, program, 0);
  EXPECT_EQ(json["calls"], 4);
  EXPECT_EQ(json["steps_ns"], 700);
  EXPECT_EQ(json["unstamped_steps_ns"], 500);
  EXPECT_EQ(json["total_ns"], 400);
  EXPECT_EQ(json["work_ns"], 200);
  EXPECT_EQ(json["unstamped_ns"], 200);
  ASSERT_EQ(json["steps"].size(), 3u);
  EXPECT_EQ(json["steps"][0]["read_limit_percent"], 50);
  EXPECT_EQ(json["steps"][0]["tail_ns"], 10);
  EXPECT_EQ(json["steps"][1]["kernel"], "k1_cublaslt");
  EXPECT_EQ(json["steps"][1]["blocks"], 0);
  EXPECT_FALSE(json["steps"][1].contains("work_ns"));
  EXPECT_EQ(json["steps"][2]["gap_ns"], 200);
  EXPECT_EQ(json["steps"][2]["ahead_ns"], 40);
  EXPECT_EQ(json["steps"][2]["unstamped_before"], 1);
  EXPECT_EQ(json["steps"][2]["work_ns"], 100);
  EXPECT_EQ(json["steps"][2]["read_limit_percent"], 50);
  EXPECT_EQ(json["steps"][2]["last_exit_ns"], 400);
  std::string text = formatTimeline(measured, report, program, 0);
  EXPECT_THAT(text, HasSubstr("timeline of 4 calls with stamps: steps 0.0007 ms, 0.0005 without"));
  EXPECT_THAT(text, HasSubstr("k0_matmul"));
  EXPECT_THAT(text, HasSubstr("no stamps: its time is in the gap after it   product"));
  EXPECT_LT(text.find("k0_matmul"), text.find("k1_cublaslt"));
}

} // namespace
} // namespace tenon::tools
