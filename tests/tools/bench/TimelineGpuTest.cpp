// Timelines of a model on a GPU, launched as the product launches it.
#include <algorithm>

#include "runtime/StepTimeline.h"
#include "runtime/TokenStream.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"
#include "tools/driver/LoadedModel.h"
#include "tools/driver/MakeExecutor.h"

namespace tenon::tools {
namespace {

using runtime::StepTimes;

/// A plan of a small trained model, or of Llama-3.2-1B with random weights.
struct Case {
  const char* name;
  bool isSmall;
  const char* shape;
  passes::Plan plan;
};

void PrintTo(const Case& testCase, std::ostream* out) { *out << testCase.name; }

constexpr int64_t context = 64;

absl::StatusOr<std::unique_ptr<runtime::Executor>> load(const Case& testCase, bool stamps) {
  ModelOptions options = {.path = std::string(TENON_TEST_DATA) + "/stories260K/stories260K.gguf",
                          .activations = "f16",
                          .shapes = {testCase.shape},
                          .contextLength = context,
                          .nextIds = true,
                          .target = "h200"};
  if (!testCase.isSmall) {
    options.path = "llama-3.2-1b";
    options.activations = options.weightType = "bf16";
    options.randomSeed = 1;
  }
  TENON_ASSIGN_OR_RETURN(LoadedModel model, loadModel(options));
  passes::FusionOptions fusion;
  fusion.plan = testCase.plan;
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compileModel(model, options, fusion, stamps));
  return makeExecutor(std::move(program), {});
}

/// The outputs of a call of the first function, whose first position is `position`; rows of decode are
/// sequences of their own.
absl::StatusOr<std::vector<std::vector<std::byte>>> call(runtime::Executor& executor,
                                                         int32_t position) {
  const runtime::Function& function = executor.program().functions[0];
  std::vector<std::vector<int32_t>> inputs;
  for (const runtime::Port& port : function.inputs) {
    std::vector<int32_t>& values = inputs.emplace_back(port.bytes / sizeof(int32_t));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = port.name == "ids"         ? 100 + 37 * (position + static_cast<int32_t>(i))
                  : port.name == "positions" ? position + static_cast<int32_t>(i)
                  : port.name == "sequences" ? static_cast<int32_t>(i)
                                             : static_cast<int32_t>(function.rows - 1);
  }
  std::vector<std::vector<std::byte>> outputs;
  for (const runtime::Port& port : function.outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<const std::byte>> arguments;
  for (const std::vector<int32_t>& input : inputs)
    arguments.push_back(std::as_bytes(std::span(input)));
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor.run(0, arguments, results));
  return outputs;
}

/// Every step of a kernel of ours is there with all its blocks, in the order of the program: none
/// works before the one before has ended, as far as the timer can tell.
void expectTimeline(runtime::Executor& executor) {
  auto stamps = executor.readStamps(0);
  ASSERT_THAT(stamps, tests::IsOk());
  auto read = runtime::readTimeline(*stamps);
  ASSERT_THAT(read, tests::IsOk());
  const runtime::Program& program = executor.program();
  const std::vector<runtime::Step>& steps = program.functions[0].steps;
  double errorNs = 2 * read->timerStepNs;
  ASSERT_EQ(read->steps.size(), steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepTimes& step = read->steps[i];
    SCOPED_TRACE(steps[i].name);
    bool isOurs =
        std::holds_alternative<runtime::CudaLaunch>(program.kernels[steps[i].kernel].launch);
    ASSERT_EQ(step.blocks, isOurs ? static_cast<size_t>(steps[i].tiles) : 0);
    if (!isOurs)
      continue;
    EXPECT_GE(step.firstWorkNs, step.firstEntryNs - errorNs);
    EXPECT_GE(step.firstExitNs, step.firstWorkNs - errorNs);
    EXPECT_GE(step.gapNs, -errorNs);
    EXPECT_GT(step.workNs(), 0);
  }
  testing::Test::RecordProperty("timer_step_ns", std::to_string(read->timerStepNs));
  testing::Test::RecordProperty("gap_ns", std::to_string(read->gapNs));
}

class TimelineGpuTest : public testing::TestWithParam<Case> {};

TEST_P(TimelineGpuTest, HasEveryStepAndChangesNoBit) {
  auto plain = load(GetParam(), false);
  if (absl::IsNotFound(plain.status()))
    GTEST_SKIP() << "no GPU: " << plain.status();
  ASSERT_THAT(plain, tests::IsOk());
  auto stamping = load(GetParam(), true);
  ASSERT_THAT(stamping, tests::IsOk());
  int64_t rows = (*plain)->program().functions[0].rows;
  for (int32_t position = 0; position + rows <= context && position < 4; ++position) {
    auto expected = call(**plain, position);
    auto found = call(**stamping, position);
    ASSERT_THAT(expected, tests::IsOk());
    ASSERT_THAT(found, tests::IsOk());
    EXPECT_EQ(*expected, *found) << position;
    expectTimeline(**stamping);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, TimelineGpuTest,
    testing::Values(Case{"AutoDecode", true, "decode:1", passes::Plan::Auto},
                    Case{"UnfusedDecode", true, "decode:1", passes::Plan::Unfused},
                    Case{"AutoDecodeOf4", true, "decode:4", passes::Plan::Auto},
                    Case{"AutoDecodeOfLlama", false, "decode:1", passes::Plan::Auto},
                    Case{"LibraryProducts", false, "prefill:32", passes::Plan::Unfused}),
    [](const auto& info) { return std::string(info.param.name); });

/// Events around the steps see no less than the blocks do.
TEST(TimelineEventsGpuTest, EncloseTheTimeline) {
  auto executor = load({"", true, "decode:1", passes::Plan::Auto}, /*stamps=*/true);
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, tests::IsOk());
  for (int32_t position = 0; position < 4; ++position) {
    ASSERT_THAT(call(**executor, position), tests::IsOk());
    auto read = runtime::readTimeline((*executor)->readStamps(0).value());
    ASSERT_THAT(read, tests::IsOk());
    EXPECT_LT(read->totalNs(), 1.02 * static_cast<double>((*executor)->lastStepsNs()) + 2'000);
  }
}

/// Several steps in one graph write to the same places; the tokens are the same.
TEST(TimelineTokensGpuTest, AreThoseWithoutStamps) {
  std::vector<std::vector<int32_t>> generated;
  for (bool stamps : {false, true}) {
    auto executor = load({"", true, "decode:1", passes::Plan::Auto}, stamps);
    if (absl::IsNotFound(executor.status()))
      GTEST_SKIP() << "no GPU: " << executor.status();
    ASSERT_THAT(executor, tests::IsOk());
    const int32_t id[] = {100}, zero[] = {0};
    auto stream = (*executor)->streamTokens(0, {id, zero, zero}, 32);
    ASSERT_THAT(stream, tests::IsOk());
    ASSERT_TRUE(*stream);
    std::vector<int32_t>& ids = generated.emplace_back();
    for (int step = 0; step < 32; ++step) {
      auto next = (*stream)->next();
      ASSERT_THAT(next, tests::IsOk());
      ids.push_back(next->front());
    }
  }
  EXPECT_EQ(generated[0], generated[1]);
}

} // namespace
} // namespace tenon::tools
