#include "tools/measure/RepeatKernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"

namespace tenon::tools {
namespace {

using runtime::BufferRef;
using runtime::FileRange;
using runtime::Program;
using runtime::RandomRange;
using runtime::SharedBytes;
using runtime::Space;
using testing::HasSubstr;

/// A step that reads a weight of 1,024 bytes, an embedded constant and a cache of 512 bytes.
Program makeProgram() {
  Program program;
  program.encodings = {{"f16", 1, 2}, {"q8_0", 32, 34}};
  program.files = {{"m", 4096, 0}};
  program.constants = {{"w", "f16", {16, 32}, 1024, std::vector<FileRange>{{0, 0, 1024}}},
                       {"c", "f16", {2}, 4, SharedBytes(std::vector<std::byte>(4))}};
  program.states = {{"k", "f16", {1, 8, 2, 16}, 512}};
  runtime::Step step{0,
                     1,
                     {{Space::Constant, 0, 0, 1024},
                      {Space::Constant, 1, 0, 4},
                      {Space::State, 0, 0, 512},
                      {Space::Workspace, 0, 0, 64}},
                     "matmul"};
  program.functions = {{"f", runtime::Role::Other, 0, {}, {}, {step}}};
  return program;
}

TEST(RepeatKernels, RotatesWeightsAndCaches) {
  auto repeated =
      repeatKernels(makeProgram(), {.repetitions = 4, .touchedBytes = 1500, .coldBytes = 4000});
  ASSERT_THAT(repeated, tests::IsOk());
  ASSERT_EQ(repeated->functions.size(), 2u);
  const auto& shortSteps = repeated->functions[ShortRun].steps;
  const auto& longSteps = repeated->functions[LongRun].steps;
  ASSERT_EQ(shortSteps.size(), 4u);
  ASSERT_EQ(longSteps.size(), 12u);
  // ⌈4000 / 1500⌉ copies; the fourth repetition reads the first again.
  EXPECT_NE(longSteps[0].args[0], longSteps[1].args[0]);
  EXPECT_NE(longSteps[1].args[0], longSteps[2].args[0]);
  EXPECT_EQ(longSteps[0].args, longSteps[3].args);
  EXPECT_EQ(shortSteps[1].args, longSteps[1].args);
  // What is embedded, and the workspace, stay; a cache is random and moves.
  EXPECT_EQ(longSteps[0].args[1], longSteps[1].args[1]);
  EXPECT_EQ(longSteps[0].args[3], longSteps[1].args[3]);
  EXPECT_NE(longSteps[0].args[2], longSteps[1].args[2]);
  EXPECT_EQ(longSteps[0].args[2].space, Space::Constant);
  EXPECT_TRUE(repeated->states.empty());
  for (const runtime::Step& step : longSteps)
    for (const BufferRef& ref : step.args)
      if (ref.space == Space::Constant)
        EXPECT_EQ(repeated->constants.at(ref.index).bytes, ref.bytes);
}

TEST(RepeatKernels, StaysWithinItsMemory) {
  auto repeated = repeatKernels(
      makeProgram(),
      {.repetitions = 100, .touchedBytes = 1500, .coldBytes = 1 << 20, .mostBytes = 5 * 1536});
  ASSERT_THAT(repeated, tests::IsOk());
  uint64_t bytes = 0;
  for (const runtime::Constant& constant : repeated->constants)
    bytes += constant.bytes;
  EXPECT_EQ(bytes, 5u * 1536 + 4);
  auto smallest =
      repeatKernels(makeProgram(),
                    {.repetitions = 2, .touchedBytes = 1500, .coldBytes = 1 << 20, .mostBytes = 0});
  ASSERT_THAT(smallest, tests::IsOk());
  EXPECT_EQ(smallest->constants.size(), 3u);
}

TEST(RepeatKernels, MakesBlocksOfQuantisedWeights) {
  Program program = makeProgram();
  program.constants[0] = {"w", "q8_0", {16, 32}, 544, std::vector<FileRange>{{0, 0, 544}}};
  program.functions[0].steps[0].args[0].bytes = 544;
  auto repeated = repeatKernels(std::move(program), {.repetitions = 1});
  ASSERT_THAT(repeated, tests::IsOk());
  const auto* blocks =
      std::get_if<std::vector<runtime::RandomRange>>(&repeated->constants[0].source);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 1u);
  EXPECT_EQ(blocks->front().bytes, 544u);
  EXPECT_GT(blocks->front().scale, 0);
}

TEST(RepeatKernels, RefusesSeveralFunctions) {
  Program program = makeProgram();
  program.functions.push_back(program.functions[0]);
  EXPECT_THAT(
      repeatKernels(std::move(program), {}),
      tests::FailsWith(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expects a program of one function to repeat, but got 2")));
}

} // namespace
} // namespace tenon::tools
