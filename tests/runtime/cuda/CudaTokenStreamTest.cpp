// Token streams on a fake device.
#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cuda/internal/CudaTokenStream.h"
#include "runtime/program/ModelPorts.h"
#include "tests/runtime/cuda/FakeDriver.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime {
namespace {

using internal::TokenRing;
using test::makeCubin;
using testing::ElementsAre;
using testing::HasSubstr;

/// A decode function of two rows that chooses (3·id + position) mod 1009, and over pages adds the page of
/// the position.
Program makeDecodeProgram(bool isPaged = false) {
  Program program;
  program.target = "h200";
  program.device = "cuda";
  program.encodings = {{"f32", 1, 4}, {"i32", 1, 4}};
  program.code = {SharedBytes(makeCubin())};
  const char* kernel = isPaged ? "chooseOfPages" : "choose";
  program.kernels = {{kernel, 0, CudaLaunch{32, 0, true}}};
  program.model = isPaged ? ModelInfo{"fake", "fake", 4, 32, 2, /*pages=*/40, /*pagePositions=*/16}
                          : ModelInfo{"fake", "fake", 4, 16, 2};
  ModelPorts ports = modelPorts(Role::Decode, 2, *program.model);
  Step step{0,
            1,
            {{Space::Input, 0, 0, 8},
             {Space::Input, 2, 0, 8},
             {Space::Output, 0, 0, 32},
             {Space::Output, 1, 0, 8}},
            kernel};
  if (isPaged)
    step.args.push_back({Space::Input, 3, 0, 16});
  program.functions = {{"decode_2",
                        Role::Decode,
                        2,
                        std::move(ports.inputs),
                        {std::move(ports.logits), std::move(ports.nextIds)},
                        {step}}};
  describeKernelsBySteps(program);
  return program;
}

int32_t* ints(void* buffer) { return static_cast<int32_t*>(buffer); }

/// With graphs, and without.
class CudaTokenStreams : public testing::TestWithParam<bool> {
protected:
  CudaTokenStreams() {
    auto& kernels = fake.state().kernels;
    kernels["choose"] = {4, [this](void* const* buffers, uint32_t) {
                           ++stepsRun;
                           for (int row = 0; row < 2; ++row)
                             ints(buffers[3])[row] =
                                 (3 * ints(buffers[0])[row] + ints(buffers[1])[row]) % 1009;
                         }};
    kernels["chooseOfPages"] = {5, [](void* const* buffers, uint32_t) {
                                  for (int row = 0; row < 2; ++row) {
                                    int32_t position = ints(buffers[1])[row];
                                    ints(buffers[3])[row] =
                                        (3 * ints(buffers[0])[row] + position +
                                         ints(buffers[4])[2 * row + position / 16]) %
                                        1009;
                                  }
                                }};
    kernels["tenonAdvanceTokens"] = {7, [this](void* const* buffers, uint32_t) {
                                       if (lostStep == 0 || stepsRun < lostStep)
                                         advance(buffers);
                                     }};
  }

  /// What the kernel does with ids, positions, next ids, the ring's entries, its count of steps, next
  /// positions, where there are any, and what the host is told.
  static void advance(void* const* buffers) {
    auto* entries = static_cast<uint64_t*>(buffers[3]);
    uint32_t& steps = *static_cast<uint32_t*>(buffers[4]);
    uint64_t slot = steps++ % TokenRing::slots;
    for (int row = 0; row < 2; ++row) {
      ints(buffers[0])[row] = ints(buffers[2])[row];
      int32_t& position = ints(buffers[1])[row];
      position = buffers[5] ? ints(buffers[5])[row] : position + (position >= 0);
      int32_t id = ints(buffers[6])[row];
      entries[slot * 2 + row] = uint64_t{steps} << 32 | static_cast<uint32_t>(id);
    }
  }

  std::unique_ptr<CudaExecutor> load(Program program) {
    auto executor =
        CudaExecutor::createOn(fake.driver(), std::move(program), {.graphs = GetParam()});
    EXPECT_EQ(executor.status(), absl::OkStatus());
    return executor.ok() ? *std::move(executor) : nullptr;
  }

  static std::unique_ptr<TokenStream> stream(CudaExecutor& executor, std::array<int32_t, 2> ids,
                                             std::array<int32_t, 2> positions, int64_t steps) {
    const std::array<int32_t, 2> sequences = {0, 1};
    auto made = executor.streamTokens(0, {ids, sequences, positions}, steps);
    EXPECT_EQ(made.status(), absl::OkStatus());
    return made.ok() ? *std::move(made) : nullptr;
  }

  static std::vector<int32_t> next(TokenStream& stream) {
    auto ids = stream.next();
    EXPECT_EQ(ids.status(), absl::OkStatus());
    return ids.ok() ? std::vector<int32_t>(ids->begin(), ids->end()) : std::vector<int32_t>();
  }

  test::FakeDriver fake;
  test::ModelFile model;
  int stepsRun = 0;
  int lostStep = 0; ///< counted from 1: from it on no tokens come; 0: none
};

TEST_P(CudaTokenStreams, FeedTokensBack) {
  auto executor = load(makeDecodeProgram());
  constexpr int64_t count = 11;  // two graphs of four steps, and three of one
  for (int32_t first : {1, 5}) { // a second stream begins anew
    auto tokens = stream(*executor, {first, 7}, {10, -1}, count);
    int32_t a = first, b = 7, position = 10;
    for (int64_t step = 0; step < count; ++step) {
      a = (3 * a + position++) % 1009;
      b = (3 * b - 1) % 1009; // an inactive row stays at position −1
      EXPECT_THAT(next(*tokens), ElementsAre(a, b));
    }
    EXPECT_EQ(tokens->next().status().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(stepsRun, 2 * count); // none beyond the last
}

/// The block table goes to the device with the first step, and stays.
TEST_P(CudaTokenStreams, KeepTheBlockTable) {
  auto executor = load(makeDecodeProgram(/*isPaged=*/true));
  const std::array<int32_t, 2> ids = {1, 5}, sequences = {0, 1}, positions = {14, 3};
  const std::array<int32_t, 4> table = {7, 30, 9, 11};
  auto tokens = executor->streamTokens(0, {ids, sequences, positions, table}, 5);
  ASSERT_EQ(tokens.status(), absl::OkStatus());
  int32_t a = 1, b = 5;
  for (int32_t step = 0; step < 5; ++step) {
    a = (3 * a + 14 + step + (step < 2 ? 7 : 30)) % 1009;
    b = (3 * b + 3 + step + 9) % 1009;
    EXPECT_THAT(next(**tokens), ElementsAre(a, b));
  }
  absl::Status status = executor->streamTokens(0, {ids, sequences, positions}, 5).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("block_table expects 16 bytes, but got 0"));
}

/// The inputs of a row are found by their roles, wherever they stand.
TEST_P(CudaTokenStreams, FindInputsByTheirRoles) {
  Program program = makeDecodeProgram();
  std::vector<Port>& inputs = program.functions.front().inputs;
  std::ranges::reverse(inputs); // positions, sequences, ids
  std::swap(program.functions.front().steps.front().args[0].index,
            program.functions.front().steps.front().args[1].index);
  auto executor = load(std::move(program));
  auto tokens = stream(*executor, {1, 7}, {10, -1}, 2);
  EXPECT_THAT(next(*tokens), ElementsAre(13, 20));
  EXPECT_THAT(next(*tokens), ElementsAre(50, 59));
}

/// Where a step says which rows its next has, those are its inputs, and the tokens what it accepted.
TEST_P(CudaTokenStreams, GoOnWithGuesses) {
  Program program = makeDecodeProgram();
  Function& function = program.functions[0];
  for (Port& port : modelPorts(Role::Decode, 2, *program.model).guesses)
    if (port.role != PortRole::DraftIds)
      function.outputs.push_back(std::move(port));
  Step& step = function.steps[0];
  for (uint32_t output : {2u, 3u, 4u})
    step.args.push_back({Space::Output, output, 0, 8});
  program.kernels[0].symbol = step.name = "guess";
  describeKernelsBySteps(program);
  // The token after id i at p is i + p; a guess is right where the position is even.
  fake.state().kernels["guess"] = {
      7, [](void* const* buffers, uint32_t) {
        const int32_t *ids = ints(buffers[0]), *positions = ints(buffers[1]);
        const int32_t chosen[] = {ids[0] + positions[0], ids[1] + positions[1]};
        const bool isRight = positions[1] >= 0 && ids[1] == chosen[0];
        ints(buffers[4])[0] = chosen[0];
        ints(buffers[4])[1] = isRight ? chosen[1] : -2;
        const int32_t id = chosen[isRight], position = positions[isRight] + 1;
        ints(buffers[5])[0] = id, ints(buffers[5])[1] = position % 2 == 0 ? id + position : 0;
        ints(buffers[6])[0] = position, ints(buffers[6])[1] = position + 1;
      }};
  auto executor = load(std::move(program));
  ASSERT_NE(executor, nullptr);
  auto tokens = stream(*executor, {1, 0}, {3, -1}, 4);
  EXPECT_THAT(next(*tokens), ElementsAre(4, -2));  // at 3; a guess behind 4 at 4
  EXPECT_THAT(next(*tokens), ElementsAre(8, 13));  // at 4 and 5; again behind 13 at 6
  EXPECT_THAT(next(*tokens), ElementsAre(19, 26)); // at 6 and 7
  EXPECT_THAT(next(*tokens), ElementsAre(34, 43));
}

/// Streams of one to three graphs' steps and some more, each given up after every number of tokens:
/// what is under way then is waited for, and nothing of it is left for the next.
TEST_P(CudaTokenStreams, MayStopAnywhere) {
  auto executor = load(makeDecodeProgram());
  for (int64_t count : {1, 3, 4, 5, 8, 9, 13})
    for (int64_t taken = 0; taken <= count; ++taken) {
      SCOPED_TRACE(testing::Message() << taken << " of " << count);
      int before = stepsRun;
      auto tokens = stream(*executor, {1, 2}, {3, -1}, count);
      int32_t a = 1, b = 2, position = 3;
      for (int64_t step = 0; step < taken; ++step) {
        a = (3 * a + position++) % 1009;
        b = (3 * b - 1) % 1009;
        EXPECT_THAT(next(*tokens), ElementsAre(a, b));
      }
      tokens.reset();
      EXPECT_GE(stepsRun - before, taken);
      EXPECT_LE(stepsRun - before, count);
    }
}

TEST_P(CudaTokenStreams, RunFewStepsAhead) {
  auto executor = load(makeDecodeProgram());
  auto tokens = stream(*executor, {1, 2}, {0, 0}, 1000);
  for (int step = 1; step <= 40; ++step) {
    next(*tokens);
    EXPECT_GE(stepsRun, step + 1);
    EXPECT_LT(stepsRun, step + int(TokenRing::slots));
  }
}

TEST_P(CudaTokenStreams, SayWhatWentWrong) {
  auto executor = load(makeDecodeProgram());
  lostStep = 2;
  auto tokens = stream(*executor, {1, 2}, {0, 0}, 8);
  next(*tokens);
  EXPECT_THAT(std::string(tokens->next().status().message()),
              HasSubstr("step 1 ended on Fake 0 without its tokens"));
  fake.fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(std::string(tokens->next().status().message()), HasSubstr("finish a step"));
}

TEST_P(CudaTokenStreams, NeedNextIdsAndTheirInputs) {
  auto executor = load(makeDecodeProgram());
  const std::array<int32_t, 2> two = {0, 1};
  absl::Status status = executor->streamTokens(0, {two, two, {two.data(), 1}}, 4).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("positions expects 8 bytes, but got 4"));
  auto none = executor->streamTokens(1, {two, two, two}, 4);
  ASSERT_EQ(none.status(), absl::OkStatus());
  EXPECT_EQ(*none, nullptr);
  fake.state().kernels["addScaled"].parameters = fake.state().kernels["accumulate"].parameters = 3;
  fake.state().kernels["twice"].parameters = 2;
  fake.state().kernels["tenonFillRandom"].rawBody = [](void**) {};
  auto plain = load(test::makeCudaProgram(model, makeCubin()));
  auto other = plain->streamTokens(0, {two, two, two}, 4);
  ASSERT_EQ(other.status(), absl::OkStatus());
  EXPECT_EQ(*other, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaTokenStreams, testing::Bool());

} // namespace
} // namespace tenon::runtime
