#include "runtime/text/Generator.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/ModelProgram.h"

namespace tenon::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<int32_t>;

constexpr int64_t vocabulary = 50;

Function makeFunction(Role role, int64_t rows) { return makeModelFunction(role, rows, vocabulary); }

Program makeProgram(std::vector<Function> functions) {
  return makeModelProgram(std::move(functions), {"fake", "fake", vocabulary, 16, 1});
}

/// A model whose cache holds the ids that it was fed. It prefers the token (sum of the ids up to a
/// position + 1) mod 50, and counts how it was called.
class FakeExecutor : public Executor {
public:
  explicit FakeExecutor(Program program) : held(std::move(program)) {}

  const Program& program() const override { return held; }

  absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override {
    const Function& called = held.functions[function];
    calls.push_back(called.name);
    if (calls.size() == failingCall)
      return absl::InternalError("the device is on fire");
    EXPECT_EQ(inputs.size(), called.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(inputs[i].size(), called.inputs[i].bytes);
    EXPECT_EQ(outputs[0].size(), called.outputs[0].bytes);

    const Ids ids = read(inputs[0]);
    const Ids positions = read(inputs[2]);
    EXPECT_THAT(read(inputs[1]), testing::Each(0));
    for (size_t row = 0; row < ids.size(); ++row) {
      if (positions[row] < 0) {
        ++inactiveRows;
        continue;
      }
      if (mayRewind && size_t(positions[row]) < cache.size())
        cache.resize(size_t(positions[row]));
      EXPECT_EQ(size_t(positions[row]), cache.size()); // no gap, nothing twice
      cache.push_back(ids[row]);
    }
    const size_t outputRow =
        called.role == Role::Decode ? ids.size() - 1 : size_t(read(inputs[3])[0]);
    EXPECT_EQ(size_t(positions[outputRow]) + 1, cache.size());
    std::vector<float> logits(vocabulary, -1);
    logits[size_t(nextId())] = nextLogit;
    std::memcpy(outputs[0].data(), logits.data(), outputs[0].size());
    return absl::OkStatus();
  }

  absl::Status resetStates() override {
    cache.clear();
    return absl::OkStatus();
  }

  int32_t nextId() const {
    int64_t sum = 1;
    for (int32_t id : cache)
      sum += id;
    return int32_t(sum % vocabulary);
  }

  Program held;
  Ids cache;
  std::vector<std::string> calls;
  int inactiveRows = 0;
  size_t failingCall = 0;
  bool mayRewind = false; ///< a position may be written again, which ends the text there
  float nextLogit = 3;

private:
  static Ids read(std::span<const std::byte> bytes) {
    Ids values(bytes.size() / sizeof(int32_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

/// What `FakeExecutor` prefers after `prompt`.
Ids expectedIds(const Ids& prompt, int count) {
  FakeExecutor model(makeProgram({}));
  model.cache = prompt;
  for (int i = 0; i < count; ++i)
    model.cache.push_back(model.nextId());
  return Ids(model.cache.begin() + ptrdiff_t(prompt.size()), model.cache.end());
}

Sampler greedy() { return Sampler::create({}).value(); }

TEST(Generator, feedsThePromptThroughDecode) {
  FakeExecutor executor(
      makeProgram({makeFunction(Role::Decode, 8), makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids{3, 4, 5}, 4, greedy()).value();
  EXPECT_EQ(result.ids, expectedIds({3, 4, 5}, 4));
  EXPECT_EQ(result.reason, StopReason::TokenLimit);
  EXPECT_EQ(executor.calls, std::vector<std::string>(6, "decode_1")); // the last id is not fed
}

TEST(Generator, feedsThePromptThroughMixedWithoutPrefill) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Mixed, 4), makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Ids prompt = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(generator.generate(prompt, 3, greedy()).value().ids, expectedIds(prompt, 3));
  EXPECT_THAT(executor.calls, ElementsAre("mixed_4", "mixed_4", "decode_1", "decode_1"));
  EXPECT_EQ(executor.inactiveRows, 2);
}

TEST(Generator, feedsThePromptThroughPrefillInChunks) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Prefill, 2), makeFunction(Role::Prefill, 4),
                                     makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Ids prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Generation result = generator.generate(prompt, 2, greedy()).value();
  EXPECT_EQ(result.ids, expectedIds(prompt, 2));
  EXPECT_THAT(executor.calls, ElementsAre("prefill_4", "prefill_4", "decode_1", "decode_1"));
  EXPECT_EQ(executor.inactiveRows, 0);
}

/// A padded call replaces several smaller ones where it takes less time than they do: here weights
/// take the time of 150 rows. Without predictions rows take the time.
TEST(Generator, padsAChunkWhereThatIsFaster) {
  auto chunksOf = [](int32_t count, int64_t nsOfRow = 1000) {
    Program program =
        makeProgram({makeFunction(Role::Prefill, 32), makeFunction(Role::Prefill, 128),
                     makeFunction(Role::Prefill, 512), makeFunction(Role::Decode, 1)});
    program.model->context = 2048;
    for (Function& function : program.functions)
      function.predictedNs = std::max<int64_t>(function.rows, 150) * nsOfRow;
    FakeExecutor executor(program);
    Generator generator = Generator::create(executor).value();
    EXPECT_EQ(generator.generate(Ids(count, 1), 1, greedy()).status(), absl::OkStatus());
    return executor.calls;
  };
  EXPECT_THAT(chunksOf(20), ElementsAre("prefill_32"));
  EXPECT_THAT(chunksOf(40), ElementsAre("prefill_128"));
  EXPECT_THAT(chunksOf(200), ElementsAre("prefill_128", "prefill_128"));
  EXPECT_THAT(chunksOf(480), ElementsAre("prefill_512"));
  EXPECT_THAT(chunksOf(1034), ElementsAre("prefill_512", "prefill_512", "prefill_32"));
  EXPECT_THAT(chunksOf(40, /*nsOfRow=*/0), ElementsAre("prefill_32", "prefill_32"));
  EXPECT_THAT(chunksOf(100, /*nsOfRow=*/0), ElementsAre("prefill_128"));
}

TEST(Generator, startsFromEmptyStates) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Ids first = generator.generate(Ids{7}, 3, greedy()).value().ids;
  EXPECT_EQ(generator.generate(Ids{7}, 3, greedy()).value().ids, first);
}

TEST(Generator, keepsWhatTheStatesHoldOfThePrompt) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  executor.mayRewind = true;
  Generator generator = Generator::create(executor).value();
  generator.keepStates();
  const auto callsFor = [&](const Ids& prompt) {
    executor.calls.clear();
    EXPECT_EQ(generator.generate(prompt, 3, greedy()).value().ids, expectedIds(prompt, 3));
    return executor.calls.size();
  };
  EXPECT_EQ(callsFor({3, 4, 5}), 5u); // the last new token is not fed
  Ids next = {3, 4, 5};
  const Ids answer = expectedIds(next, 3);
  next.insert(next.end(), answer.begin(), answer.end());
  next.push_back(7);
  EXPECT_EQ(callsFor(next), 4u);      // two that the states lack, two new ones
  EXPECT_EQ(callsFor({3, 4, 5}), 3u); // the last of the prompt is fed for its logits
  EXPECT_EQ(callsFor({3, 9}), 3u);    // another text from its second token on
  EXPECT_EQ(callsFor({8, 4, 5}), 5u); // another text
  executor.failingCall = executor.calls.size() + 1;
  EXPECT_FALSE(generator.generate(Ids{8, 4, 5, 6}, 3, greedy()).ok());
  executor.failingCall = 0;
  EXPECT_EQ(callsFor({8, 4, 5, 6}), 6u); // what a failure left is not trusted
}

/// Tokens after a common begin have taken the places of those before it.
TEST(Generator, keepsAllThatARingHoldsOrNothing) {
  Program program = makeProgram({makeFunction(Role::Decode, 1)});
  program.model->context = ModelInfo::endlessContext;
  FakeExecutor executor(program);
  executor.mayRewind = true;
  Generator generator = Generator::create(executor).value();
  generator.keepStates();
  const auto callsFor = [&](const Ids& prompt) {
    executor.calls.clear();
    EXPECT_EQ(generator.generate(prompt, 3, greedy()).value().ids, expectedIds(prompt, 3));
    return executor.calls.size();
  };
  EXPECT_EQ(callsFor({3, 4, 5}), 5u);
  Ids next = {3, 4, 5};
  const Ids answer = expectedIds(next, 3);
  next.insert(next.end(), answer.begin(), answer.end());
  next.push_back(7);
  EXPECT_EQ(callsFor(next), 4u);      // the whole text goes on
  EXPECT_EQ(callsFor({3, 4, 5}), 5u); // a part of it begins again
  EXPECT_EQ(callsFor({3, 9}), 4u);
}

TEST(Generator, stopsAtTheEndOfSequence) {
  const Ids ids = expectedIds({3}, 5);
  Program program = makeProgram({makeFunction(Role::Decode, 1)});
  program.tokenizer.emplace();
  program.tokenizer->eosId = ids[3];
  FakeExecutor executor(program);
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids{3}, 10, greedy()).value();
  EXPECT_EQ(result.ids, Ids(ids.begin(), ids.begin() + 3));
  EXPECT_EQ(result.reason, StopReason::EndOfSequence);
}

TEST(Generator, stopsAtTheEndOfATurn) {
  const Ids ids = expectedIds({3}, 5);
  Program program = makeProgram({makeFunction(Role::Decode, 1)});
  program.tokenizer.emplace();
  program.tokenizer->eosId = ids[4];
  program.tokenizer->extraEndIds = {vocabulary - 1, ids[2]};
  FakeExecutor executor(program);
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids{3}, 10, greedy()).value();
  EXPECT_EQ(result.ids, Ids(ids.begin(), ids.begin() + 2));
  EXPECT_EQ(result.reason, StopReason::EndOfSequence);
}

TEST(Generator, stopsAtTheEndOfTheContext) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids(14, 1), 100, greedy()).value();
  EXPECT_EQ(result.ids.size(), 3u); // at positions 14, 15, and one that is not fed
  EXPECT_EQ(result.reason, StopReason::ContextEnd);
  EXPECT_EQ(executor.cache.size(), 16u);
  EXPECT_EQ(generator.generate(Ids(16, 1), 100, greedy()).value().ids.size(), 1u);
  EXPECT_EQ(generator.generate(Ids(16, 1), 1, greedy()).value().reason, StopReason::TokenLimit);
}

/// A `FakeExecutor` that chooses tokens by itself, as a GPU does: steps may be started ahead.
class StreamingExecutor final : public FakeExecutor {
public:
  using FakeExecutor::FakeExecutor;

  class Stream final : public TokenStream {
  public:
    Stream(StreamingExecutor& executor, int32_t id, int64_t count)
        : executor(executor), id(id), count(count) {}
    absl::StatusOr<std::span<const int32_t>> next() override {
      EXPECT_GT(count--, 0);
      executor.cache.push_back(id);
      id = executor.steps + 1 == executor.stepOfNan ? -1 : executor.nextId();
      ++executor.steps;
      return std::span<const int32_t>(&id, 1);
    }

  private:
    StreamingExecutor& executor;
    int32_t id;
    int64_t count;
  };

  absl::StatusOr<std::unique_ptr<TokenStream>>
  streamTokens(size_t function, const TokenInputs& inputs, int64_t steps) override {
    EXPECT_LE(int64_t(cache.size()) + steps, held.model->context);
    EXPECT_THAT(inputs.sequences, ElementsAre(0));
    EXPECT_THAT(inputs.positions, ElementsAre(int32_t(cache.size())));
    return std::make_unique<Stream>(*this, inputs.ids[0], steps);
  }

  int steps = 0;
  int stepOfNan = 0; ///< counted from 1; 0: none
};

TEST(Generator, letsTheDeviceChooseGreedyTokens) {
  StreamingExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  for (const Ids& prompt : {Ids{3, 4, 5}, Ids{9}}) {
    executor.calls.clear(), executor.steps = 0;
    const Generation result = generator.generate(prompt, 6, greedy()).value();
    EXPECT_EQ(result.ids, expectedIds(prompt, 6));
    EXPECT_EQ(result.tokenNs.size(), 5u);
    EXPECT_EQ(executor.calls.size(), prompt.size()); // the logits after the prompt alone
    EXPECT_EQ(executor.steps, 5);                    // none beyond the last token
  }
}

/// The device may have gone on after the last token that was asked for.
TEST(Generator, keepsNoRingThatTheDeviceWroteTo) {
  Program program = makeProgram({makeFunction(Role::Decode, 1)});
  for (const int64_t context : {int64_t(16), ModelInfo::endlessContext}) {
    program.model->context = context;
    StreamingExecutor executor(program);
    executor.mayRewind = true;
    Generator generator = Generator::create(executor).value();
    generator.keepStates();
    Ids prompt = {3, 4, 5};
    const Ids answer = generator.generate(prompt, 3, greedy()).value().ids;
    prompt.insert(prompt.end(), answer.begin(), answer.end());
    executor.calls.clear();
    EXPECT_EQ(generator.generate(prompt, 1, greedy()).value().ids, expectedIds(prompt, 1));
    EXPECT_EQ(executor.calls.size(), context == 16 ? 1u : prompt.size());
  }
}

TEST(Generator, saysWhereTheDeviceFoundNoToken) {
  StreamingExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  executor.stepOfNan = 2;
  Generator generator = Generator::create(executor).value();
  absl::Status status = generator.generate(Ids{3, 4, 5}, 6, greedy()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the logits after token 2 of the answer, but found NaN"));
}

TEST(Generator, letsTheDeviceChooseUpToTheEndOfTheContext) {
  StreamingExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids(14, 1), 100, greedy()).value();
  EXPECT_EQ(result.ids, expectedIds(Ids(14, 1), 3));
  EXPECT_EQ(result.reason, StopReason::ContextEnd);
}

TEST(Generator, drawsOnTheHost) {
  StreamingExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Sampler sampler = Sampler::create({.temperature = 0.01f}).value();
  EXPECT_EQ(generator.generate(Ids{3}, 4, sampler).value().ids, expectedIds({3}, 4));
  EXPECT_EQ(executor.steps, 0);
}

TEST(Generator, penalizesWhatTheTextHolds) {
  StreamingExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  executor.nextLogit = -5; // all others have −1
  const Sampler sampler = Sampler::create({.repetitionPenalty = 10}).value();
  EXPECT_THAT(generator.generate(Ids{3, 4, 5}, 4, sampler).value().ids, ElementsAre(0, 1, 2, 6));
  EXPECT_EQ(executor.steps, 0); // a device knows no penalty
}

TEST(Generator, callsBackForEachTokenAndStopsWhenToldTo) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  Ids seen;
  const Generation result = generator
                                .generate(Ids{3}, 10, greedy(),
                                          [&](int32_t id) {
                                            seen.push_back(id);
                                            return seen.size() < 4;
                                          })
                                .value();
  EXPECT_EQ(seen, expectedIds({3}, 4));
  EXPECT_EQ(result.ids, seen);
  EXPECT_EQ(result.reason, StopReason::Callback);
}

TEST(Generator, measuresEachStep) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const Generation result = generator.generate(Ids{3}, 5, greedy()).value();
  EXPECT_GT(result.promptNs, 0);
  EXPECT_EQ(result.tokenNs.size(), 4u);
  EXPECT_THAT(result.tokenNs, testing::Each(testing::Gt(0)));
  EXPECT_TRUE(generator.generate(Ids{3}, 0, greedy()).value().tokenNs.empty());
}

TEST(Generator, computesLogitsOfEveryPosition) {
  FakeExecutor executor(
      makeProgram({makeFunction(Role::Prefill, 4), makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const std::vector<float> logits = generator.computeLogits(Ids{3, 4}).value();
  ASSERT_EQ(logits.size(), size_t(2 * vocabulary));
  for (int64_t i = 0; i < 2 * vocabulary; ++i)
    EXPECT_EQ(logits[size_t(i)], i == 4 || i == vocabulary + 8 ? 3 : -1) << i;
  EXPECT_THAT(executor.calls, ElementsAre("decode_1", "decode_1"));
}

TEST(Generator, namesTheReasons) {
  EXPECT_EQ(stopReasonName(StopReason::TokenLimit), "token limit");
  EXPECT_EQ(stopReasonName(StopReason::EndOfSequence), "end of sequence");
  EXPECT_EQ(stopReasonName(StopReason::ContextEnd), "context end");
  EXPECT_EQ(stopReasonName(StopReason::StopText), "stop text");
  EXPECT_EQ(stopReasonName(StopReason::Callback), "callback");
}

TEST(Generator, refusesBrokenPrompts) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  const auto refusal = [&](const Ids& prompt, int64_t count) {
    const absl::Status status = generator.generate(prompt, count, greedy()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal({}, 1), "generator: expects from 1 to 16 ids (the context), but got 0");
  EXPECT_EQ(refusal(Ids(17, 1), 1),
            "generator: expects from 1 to 16 ids (the context), but got 17");
  EXPECT_EQ(refusal({1, 50}, 1), "generator: expects ids from 0 to 49, but got 50 at position 1");
  EXPECT_EQ(refusal({-1}, 1), "generator: expects ids from 0 to 49, but got -1 at position 0");
  EXPECT_EQ(refusal({1}, -1), "generator: expects a count of at least 0, but got -1");
  EXPECT_FALSE(generator.computeLogits(Ids{}).ok());
  EXPECT_TRUE(executor.calls.empty());
}

TEST(Generator, passesErrorsOn) {
  FakeExecutor executor(makeProgram({makeFunction(Role::Decode, 1)}));
  Generator generator = Generator::create(executor).value();
  executor.failingCall = 1;
  EXPECT_EQ(generator.generate(Ids{1}, 2, greedy()).status().message(), "the device is on fire");
  executor.failingCall = 3;
  EXPECT_EQ(generator.generate(Ids{1}, 2, greedy()).status().message(), "the device is on fire");
  executor.failingCall = 4;
  EXPECT_EQ(generator.computeLogits(Ids{1}).status().message(), "the device is on fire");
  executor.nextLogit = NAN;
  EXPECT_THAT(std::string(generator.generate(Ids{1}, 2, greedy()).status().message()),
              HasSubstr("expects a number as the logit of token 2"));
}

class ProgramCheck : public testing::Test {
protected:
  std::string refusal() {
    FakeExecutor executor(program);
    const absl::Status status = Generator::create(executor).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  Program program = makeProgram({makeFunction(Role::Decode, 1), makeFunction(Role::Prefill, 4)});
};

TEST_F(ProgramCheck, needsAModel) {
  program.model->context = 0;
  EXPECT_EQ(refusal(), "generator: expects a context of 1 to 2147483647, but got 0");
  program.model->context = int64_t(1) << 31;
  EXPECT_EQ(refusal(), "generator: expects a context of 1 to 2147483647, but got 2147483648");
  program.model.reset();
  EXPECT_EQ(refusal(),
            "generator: expects the program of a language model, but it describes no model");
}

TEST_F(ProgramCheck, needsDecodeOfOneRow) {
  program.functions[0] = makeFunction(Role::Decode, 2);
  EXPECT_EQ(refusal(),
            "generator: expects a decode function of one row (--shapes decode:1), but the "
            "program has none");
}

TEST_F(ProgramCheck, boundsWhatItAllocates) {
  program.model->vocabulary = int64_t(1) << 60;
  EXPECT_EQ(refusal(), "function 'decode_1': expects from 1 to 65536 rows and at most 268435456 "
                       "logits, but got 1 rows of 1152921504606846976");
  program.model->vocabulary = 0;
  EXPECT_THAT(refusal(), HasSubstr("but got 1 rows of 0"));
  program.model->vocabulary = vocabulary;
  program.functions[1].rows = int64_t(1) << 40;
  EXPECT_THAT(refusal(), HasSubstr("but got 1099511627776 rows of 50"));
}

TEST_F(ProgramCheck, needsThePortsOfTheRole) {
  program.functions[1].inputs.pop_back();
  EXPECT_EQ(refusal(),
            "function 'prefill_4': expects the input output_rows i32 [1] of 4 bytes, but got none");
  program.functions[1] = makeFunction(Role::Prefill, 4);
  program.functions[1].outputs.clear();
  EXPECT_EQ(
      refusal(),
      "function 'prefill_4': expects the output logits f32 [1, 50] of 200 bytes, but got none");
  program.functions[1] = makeFunction(Role::Prefill, 4);
  program.functions[1].inputs.push_back(program.functions[1].inputs[0]);
  EXPECT_EQ(refusal(), "function 'prefill_4': expects 4 inputs, but got 5");
}

TEST_F(ProgramCheck, needsPortsOfTheRightShape) {
  const Port good = program.functions[1].inputs[2];
  Port& port = program.functions[1].inputs[2];
  port.shape = {1, 4};
  EXPECT_EQ(refusal(),
            "function 'prefill_4': expects the input positions i32 [4] of 16 bytes, but got "
            "positions i32 [1, 4] of 16 bytes");
  port = good;
  port.role = PortRole::Other;
  EXPECT_THAT(refusal(),
              HasSubstr("expects the input positions i32 [4] of 16 bytes, but got none"));
  port = good;
  port.encoding = "i64";
  EXPECT_THAT(refusal(), HasSubstr("but got positions i64 [4] of 16 bytes"));
  port = good;
  port.bytes = 1;
  EXPECT_THAT(refusal(), HasSubstr("but got positions i32 [4] of 1 bytes"));
  port = good;
  program.functions[0].outputs[0].shape[1] = 51;
  EXPECT_THAT(refusal(), HasSubstr("expects the output logits f32 [1, 50]"));
}

} // namespace
} // namespace tenon::runtime
