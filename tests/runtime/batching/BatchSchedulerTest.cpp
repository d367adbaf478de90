#include "runtime/batching/BatchScheduler.h"

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/HashModel.h"

namespace tenon::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<int32_t>;

constexpr int64_t vocabulary = HashModel::vocabulary, context = HashModel::context;

Function decode(int64_t rows) { return makeModelFunction(Role::Decode, rows, vocabulary); }
Function prefill(int64_t rows) { return makeModelFunction(Role::Prefill, rows, vocabulary); }

Function mixed(int64_t rows, int64_t sequences) {
  return makeModelFunction(Role::Mixed, rows, vocabulary, /*hasNextIds=*/false, sequences);
}

/// What the model answers to `prompt` alone.
Ids answerOf(const Ids& prompt, int64_t count) { return HashModel({}, 0).answerOf(prompt, count); }

struct Answers {
  std::map<RequestId, RequestResult> results;
  std::function<void(RequestResult)> collect() {
    return [this](RequestResult result) {
      const RequestId id = result.id;
      EXPECT_TRUE(results.emplace(id, std::move(result)).second) << "ended twice: " << id;
    };
  }
};

std::unique_ptr<BatchScheduler> makeScheduler(Executor& executor,
                                              const BatchOptions& options = {}) {
  auto scheduler = BatchScheduler::create(executor, options);
  EXPECT_TRUE(scheduler.ok()) << scheduler.status();
  return *std::move(scheduler);
}

void runUntilIdle(BatchScheduler& scheduler) {
  while (true) {
    auto worked = scheduler.step();
    ASSERT_TRUE(worked.ok()) << worked.status();
    if (!*worked)
      return;
  }
}

TEST(BatchScheduler, AnswersAsIfEachWereAlone) {
  HashModel model({decode(1), decode(4), prefill(8)}, 4);
  auto scheduler = makeScheduler(model);
  Answers answers;
  std::vector<Ids> prompts = {
      {1, 2, 3}, {4}, {5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, {3, 2, 1}, {9, 9}};
  for (const Ids& prompt : prompts)
    ASSERT_TRUE(
        scheduler->submit({.prompt = prompt, .maxTokens = 7, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  ASSERT_EQ(answers.results.size(), prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    const RequestResult& result = answers.results.at(i + 1);
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.ids, answerOf(prompts[i], 7));
    EXPECT_EQ(result.reason, StopReason::TokenLimit);
    EXPECT_LE(result.queueNs, result.firstTokenNs);
    EXPECT_LE(result.firstTokenNs, result.totalNs);
  }
}

TEST(BatchScheduler, RunsAPromptChunkBetweenTwoStepsOfDecode) {
  HashModel model({decode(2), prefill(4)}, 2);
  auto scheduler = makeScheduler(model);
  ASSERT_TRUE(scheduler->submit({.prompt = {1, 2}, .maxTokens = 4}).ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(scheduler->submit({.prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .maxTokens = 1}).ok());
  runUntilIdle(*scheduler);
  // The last of the nine tokens is a row of decode.
  EXPECT_THAT(model.calls, ElementsAre("prefill_4", "decode_2", "prefill_4", "decode_2",
                                       "prefill_4", "decode_2"));
}

TEST(BatchScheduler, FeedsPromptsThroughDecodeWithoutPrefill) {
  HashModel model({decode(2)}, 2);
  auto scheduler = makeScheduler(model);
  Answers answers;
  for (const Ids& prompt : {Ids{1, 2, 3}, Ids{4}})
    ASSERT_TRUE(
        scheduler->submit({.prompt = prompt, .maxTokens = 3, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(model.calls.size(), 5u);
  EXPECT_EQ(answers.results.at(1).ids, answerOf({1, 2, 3}, 3));
  EXPECT_EQ(answers.results.at(2).ids, answerOf({4}, 3));
}

TEST(BatchScheduler, TakesTheSmallestFunctionThatHoldsAllAndTurnsBeyondTheLargest) {
  HashModel model({decode(1), decode(2)}, 5);
  auto scheduler = makeScheduler(model);
  Answers answers;
  std::vector<int64_t> tokens(5);
  for (int32_t i = 0; i < 5; ++i)
    ASSERT_TRUE(
        scheduler
            ->submit({.prompt = {i},
                      .maxTokens = 10,
                      .onToken = [&tokens, i](int32_t) { return ++tokens[size_t(i)], true; },
                      .onEnd = answers.collect()})
            .ok());
  for (int step = 0; step < 15; ++step) {
    ASSERT_TRUE(scheduler->step().ok());
    auto [least, most] = std::ranges::minmax(tokens);
    EXPECT_LE(most - least, 1) << "after " << step + 1 << " steps";
  }
  runUntilIdle(*scheduler);
  for (int32_t i = 0; i < 5; ++i)
    EXPECT_EQ(answers.results.at(RequestId(i + 1)).ids, answerOf({i}, 10));
  EXPECT_EQ(model.calls.back(), "decode_2");
  ASSERT_TRUE(scheduler->submit({.prompt = {7}, .maxTokens = 1}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(model.calls.back(), "decode_1");
}

TEST(BatchScheduler, ReusesTheBeginOfAnEarlierPrompt) {
  HashModel model({decode(1), prefill(4)}, 2);
  auto scheduler = makeScheduler(model);
  Answers answers;
  const Ids prompt = {1, 2, 3, 4, 5, 6};
  for (Ids next : {prompt, Ids{1, 2, 3, 4, 7, 8, 9}}) {
    ASSERT_TRUE(
        scheduler->submit({.prompt = next, .maxTokens = 2, .onEnd = answers.collect()}).ok());
    runUntilIdle(*scheduler);
  }
  EXPECT_EQ(answers.results.at(1).reusedTokens, 0);
  EXPECT_EQ(answers.results.at(2).reusedTokens, 4);
  EXPECT_EQ(answers.results.at(2).ids, answerOf({1, 2, 3, 4, 7, 8, 9}, 2));
  EXPECT_EQ(scheduler->statistics().reusedTokens, 4);
  EXPECT_EQ(scheduler->statistics().prefillTokens, 6 + 3);
}

TEST(BatchScheduler, ReusesNothingWhereThatIsNotWanted) {
  HashModel model({decode(1)}, 1);
  auto scheduler = makeScheduler(model, {.reusesPrefixes = false});
  Answers answers;
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(
        scheduler->submit({.prompt = {1, 2, 3}, .maxTokens = 1, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(2).reusedTokens, 0);
  EXPECT_EQ(answers.results.at(2).ids, answerOf({1, 2, 3}, 1));
}

TEST(BatchScheduler, StopsAtTheContextsEndAndWhereTheCallbackAsks) {
  HashModel model({decode(2)}, 2);
  auto scheduler = makeScheduler(model);
  Answers answers;
  ASSERT_TRUE(
      scheduler->submit({.prompt = {1}, .maxTokens = 1000, .onEnd = answers.collect()}).ok());
  int64_t seen = 0;
  ASSERT_TRUE(scheduler
                  ->submit({.prompt = {2},
                            .maxTokens = 1000,
                            .onToken = [&](int32_t) { return ++seen < 3; },
                            .onEnd = answers.collect()})
                  .ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(1).reason, StopReason::ContextEnd);
  EXPECT_EQ(answers.results.at(1).ids, answerOf({1}, context)); // the last is not fed
  EXPECT_EQ(answers.results.at(2).reason, StopReason::Callback);
  EXPECT_EQ(answers.results.at(2).ids, answerOf({2}, 3));
}

TEST(BatchScheduler, EndsTheSequenceAtItsLastToken) {
  HashModel model({decode(1)}, 1);
  const Ids answer = answerOf({1, 2}, 5);
  model.held.tokenizer.emplace();
  model.held.tokenizer->extraEndIds = {answer[3]};
  auto scheduler = makeScheduler(model);
  Answers answers;
  ASSERT_TRUE(
      scheduler->submit({.prompt = {1, 2}, .maxTokens = 5, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(1).reason, StopReason::EndOfSequence);
  EXPECT_EQ(answers.results.at(1).ids, Ids(answer.begin(), answer.begin() + 3));
}

TEST(BatchScheduler, LogitsThatAreNoNumbersEndTheirRequestAlone) {
  HashModel model({decode(2)}, 2);
  model.brokenId = 60;
  auto scheduler = makeScheduler(model);
  Answers answers;
  for (int32_t first : {60, 4})
    ASSERT_TRUE(
        scheduler->submit({.prompt = {first}, .maxTokens = 2, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_THAT(answers.results.at(1).status.message(), HasSubstr("sampler: expects a number"));
  EXPECT_EQ(answers.results.at(2).ids, answerOf({4}, 2));
}

/// Rows that no sequence needs verify guesses: the same answers in fewer calls.
TEST(BatchScheduler, GuessesInIdleRows) {
  std::vector<size_t> calls;
  for (bool guesses : {false, true}) {
    // A model that remembers one token soon repeats itself.
    HashModel model({decode(8), prefill(4)}, 3, /*memory=*/1);
    auto scheduler = makeScheduler(model, {.guessesInIdleRows = guesses});
    Answers answers;
    for (int32_t first : {1, 2, 3, 4, 5, 6})
      ASSERT_TRUE(scheduler
                      ->submit({.prompt = {first, 7, 9},
                                .maxTokens = 10 * first, // the last ones end with the context
                                .onEnd = answers.collect()})
                      .ok());
    runUntilIdle(*scheduler);
    for (int32_t first : {1, 2, 3, 4, 5, 6}) {
      const RequestResult& result = answers.results.at(RequestId(first));
      EXPECT_EQ(result.ids,
                model.answerOf({first, 7, 9}, std::min<int64_t>(10 * first, context - 2)));
      EXPECT_EQ(result.reason,
                10 * first > context - 2 ? StopReason::ContextEnd : StopReason::TokenLimit);
    }
    const BatchStatistics statistics = scheduler->statistics();
    EXPECT_EQ(statistics.acceptedTokens > 50, guesses);
    EXPECT_LE(statistics.acceptedTokens, statistics.draftedTokens);
    calls.push_back(model.calls.size());
  }
  EXPECT_LT(calls[1], calls[0] / 2);
}

/// Greedy tokens that the device chooses need no logits on the host; drawn ones do.
TEST(BatchScheduler, FetchesLogitsWhereItDraws) {
  HashModel model({makeModelFunction(Role::Decode, 2, vocabulary, /*hasNextIds=*/true),
                   makeModelFunction(Role::Prefill, 4, vocabulary, /*hasNextIds=*/true)},
                  2);
  model.brokenId = 60;
  auto scheduler = makeScheduler(model);
  Answers answers;
  ASSERT_TRUE(
      scheduler->submit({.prompt = {1, 2}, .maxTokens = 5, .onEnd = answers.collect()}).ok());
  ASSERT_TRUE(scheduler->submit({.prompt = {60}, .maxTokens = 5, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(model.logitsCalls, 0u);
  EXPECT_EQ(answers.results.at(1).ids, answerOf({1, 2}, 5));
  EXPECT_THAT(answers.results.at(2).status.message(),
              HasSubstr("device: expects numbers as the logits behind token 1, but found NaN"));
  for (float temperature : {0.f, 0.01f})
    ASSERT_TRUE(scheduler
                    ->submit({.prompt = {3},
                              .maxTokens = 4,
                              .sampling = {.temperature = temperature},
                              .onEnd = answers.collect()})
                    .ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(model.logitsCalls, 4u); // one of prefill, three of decode
  EXPECT_EQ(answers.results.at(3).ids, answerOf({3}, 4));
  EXPECT_EQ(answers.results.at(4).ids, answerOf({3}, 4)); // all but certain at that temperature
}

TEST(BatchScheduler, RefusesWhatCannotRun) {
  HashModel model({decode(1)}, 1);
  auto scheduler = makeScheduler(model, {.mostWaiting = 1});
  EXPECT_THAT(scheduler->submit({.prompt = {}}).status().message(),
              HasSubstr("scheduler: expects from 1 to 48 ids"));
  EXPECT_THAT(scheduler->submit({.prompt = {64}}).status().message(),
              HasSubstr("expects ids from 0 to 63, but got 64 at position 0"));
  EXPECT_THAT(scheduler->submit({.prompt = {1}, .maxTokens = -1}).status().message(),
              HasSubstr("expects at least 0 tokens to make, but got -1"));
  EXPECT_THAT(
      scheduler->submit({.prompt = {1}, .sampling = {.temperature = -1}}).status().message(),
      HasSubstr("temperature"));
  ASSERT_TRUE(scheduler->submit({.prompt = {1}, .maxTokens = 1}).ok());
  EXPECT_THAT(scheduler->submit({.prompt = {1}, .maxTokens = 1}).status().message(),
              HasSubstr("expects at most 1 waiting requests"));
}

TEST(BatchScheduler, NamesWhatAProgramLacks) {
  HashModel none({prefill(4)}, 1);
  EXPECT_THAT(BatchScheduler::create(none).status().message(),
              HasSubstr("scheduler: expects a decode function (--shapes decode:N)"));
  HashModel stateless({decode(1)}, 0);
  EXPECT_THAT(BatchScheduler::create(stateless).status().message(),
              HasSubstr("expects states of at least one sequence, but got 0"));
}

TEST(BatchScheduler, AFailedCallEndsAllRequestsOnce) {
  HashModel model({decode(2)}, 2);
  model.failingCall = 3;
  auto scheduler = makeScheduler(model);
  Answers answers;
  for (int32_t i = 0; i < 5; ++i)
    ASSERT_TRUE(
        scheduler->submit({.prompt = {i}, .maxTokens = 4, .onEnd = answers.collect()}).ok());
  absl::Status status;
  for (int i = 0; i < 3; ++i)
    status = scheduler->step().status();
  EXPECT_THAT(status.message(), HasSubstr("on fire"));
  EXPECT_EQ(answers.results.size(), 5u);
  for (const auto& [id, result] : answers.results)
    EXPECT_EQ(result.status, status);
  EXPECT_EQ(scheduler->step().status(), status);
  EXPECT_EQ(scheduler->submit({.prompt = {1}}).status(), status);
}

constexpr int manyRequests = 10'000;

/// Submits and cancels requests at random; each gets what it would have got alone, as far as it went.
BatchStatistics expectNothingIsLost(HashModel& model, int count = manyRequests) {
  auto scheduler = makeScheduler(model);
  std::mt19937 random(7);
  auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  struct Sent {
    Ids prompt;
    int64_t maxTokens;
    bool wasCancelled = false;
  };
  std::map<RequestId, Sent> sent;
  Answers answers;
  while (int(sent.size()) < count) {
    for (int i = draw(0, 4); i > 0 && int(sent.size()) < count; --i) {
      Ids prompt(size_t(draw(1, 20)));
      for (int32_t& id : prompt)
        id = draw(0, 2); // so that prompts share their begins
      const int64_t maxTokens = draw(0, 12);
      auto id =
          scheduler->submit({.prompt = prompt, .maxTokens = maxTokens, .onEnd = answers.collect()});
      EXPECT_TRUE(id.ok()) << id.status();
      sent[*id] = {prompt, maxTokens};
    }
    if (draw(0, 3) == 0 && !sent.empty()) {
      auto chosen = sent.find(RequestId(draw(1, int(sent.size()))));
      chosen->second.wasCancelled = true;
      scheduler->cancel(chosen->first);
    }
    EXPECT_TRUE(scheduler->step().ok());
  }
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.size(), size_t(count));
  int64_t cancelled = 0;
  for (const auto& [id, request] : sent) {
    const RequestResult& result = answers.results.at(id);
    const Ids answer = answerOf(request.prompt, request.maxTokens);
    EXPECT_TRUE(result.ids.size() <= answer.size() &&
                std::equal(result.ids.begin(), result.ids.end(), answer.begin()))
        << "request " << id;
    if (!result.status.ok()) {
      EXPECT_TRUE(request.wasCancelled) << result.status;
      EXPECT_EQ(result.status, absl::CancelledError("the request was cancelled"));
      ++cancelled;
    } else {
      EXPECT_EQ(result.ids, answer);
    }
  }
  EXPECT_GT(cancelled, 20);
  BatchStatistics statistics = scheduler->statistics();
  EXPECT_EQ(statistics.running, 0);
  EXPECT_EQ(statistics.waiting, 0);
  EXPECT_EQ(statistics.cachedTokens, 0);
  return statistics;
}

TEST(BatchScheduler, TenThousandRequestsWithCancelsLoseNothing) {
  HashModel model({decode(1), decode(4), decode(8), prefill(4), prefill(16)}, 8);
  EXPECT_GT(expectNothingIsLost(model).reusedTokens, manyRequests / 4);
}

/// Functions of a model whose caches are paged.
std::vector<Function> pagedFunctions(const ModelInfo& info, std::vector<int64_t> decodeRows,
                                     std::vector<int64_t> prefillRows) {
  std::vector<Function> functions;
  for (int64_t rows : decodeRows)
    functions.push_back(makeModelFunction(Role::Decode, rows, info));
  for (int64_t rows : prefillRows)
    functions.push_back(makeModelFunction(Role::Prefill, rows, info));
  return functions;
}

// Requests of up to 32 tokens: 15 pages of 4 are often too few for 8, and once just enough for one.
TEST(BatchScheduler, TenThousandRequestsLoseNothingWherePagesRunOut) {
  for (int64_t pages : {12, 15, 40}) {
    SCOPED_TRACE(pages);
    const ModelInfo info = HashModel::infoOf(8, pages, 4);
    HashModel model(pagedFunctions(info, {1, 4, 8}, {4, 16}), info);
    BatchStatistics statistics = expectNothingIsLost(model);
    EXPECT_EQ(statistics.pages, pages);
    EXPECT_EQ(statistics.freePages, pages);
    EXPECT_GT(statistics.preemptions, pages < 40 ? 100 : 0);
    EXPECT_GT(statistics.reusedTokens, manyRequests / 8);
  }
}

TEST(BatchScheduler, RequestsLoseNothingWherePagesRunOutAndPromptsGoThroughDecode) {
  const ModelInfo info = HashModel::infoOf(8, 15, 4);
  HashModel model(pagedFunctions(info, {1, 4}, {}), info);
  EXPECT_GT(expectNothingIsLost(model).preemptions, 100);
}

TEST(BatchScheduler, SharesThePagesOfACommonBeginWithARequestThatRuns) {
  const ModelInfo info = HashModel::infoOf(2, 24, 4);
  HashModel model(pagedFunctions(info, {2}, {8}), info);
  auto scheduler = makeScheduler(model);
  Answers answers;
  const Ids begin = {1, 2, 3, 4, 5, 6, 7, 8};
  Ids first = begin, second = begin;
  first.insert(first.end(), {9, 10}), second.insert(second.end(), {11, 12});
  ASSERT_TRUE(
      scheduler->submit({.prompt = first, .maxTokens = 9, .onEnd = answers.collect()}).ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(
      scheduler->submit({.prompt = second, .maxTokens = 9, .onEnd = answers.collect()}).ok());
  ASSERT_TRUE(scheduler->step().ok());
  // Three pages of each, two of them the same.
  EXPECT_EQ(scheduler->statistics().freePages, 24 - 4);
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(1).ids, answerOf(first, 9));
  EXPECT_EQ(answers.results.at(2).ids, answerOf(second, 9));
  EXPECT_EQ(answers.results.at(2).reusedTokens, 8);
  EXPECT_EQ(scheduler->statistics().freePages, 24);
}

// Both grow until the pages run out: the younger one begins anew, with what it has said, and ends later.
TEST(BatchScheduler, TheYoungestGivesUpItsPages) {
  const ModelInfo info = HashModel::infoOf(2, 12, 4);
  HashModel model(pagedFunctions(info, {2}, {4}), info);
  auto scheduler = makeScheduler(model, {.reusesPrefixes = false, .guessesInIdleRows = false});
  Answers answers;
  std::vector<RequestId> ended;
  for (int32_t i : {1, 2})
    ASSERT_TRUE(scheduler
                    ->submit({.prompt = {i, i},
                              .maxTokens = 30,
                              .onEnd =
                                  [&, collect = answers.collect()](RequestResult result) {
                                    ended.push_back(result.id);
                                    collect(std::move(result));
                                  }})
                    .ok());
  runUntilIdle(*scheduler);
  EXPECT_THAT(ended, ElementsAre(1, 2));
  EXPECT_EQ(answers.results.at(1).ids, answerOf({1, 1}, 30));
  EXPECT_EQ(answers.results.at(2).ids, answerOf({2, 2}, 30));
  EXPECT_EQ(scheduler->statistics().preemptions, 1);
}

/// What a scheduler with those options answers to prompts with common begins and ends of their own, of
/// which each next one comes some steps later; alone, where `isAlone`, each on a model of its own.
std::vector<Ids> answersOf(const ModelInfo& info, const BatchOptions& options, bool isAlone) {
  std::vector<Function> functions;
  for (int64_t rows : {1, 4})
    functions.push_back(makeModelFunction(Role::Decode, rows, info));
  for (int64_t rows : {4, 8})
    functions.push_back(makeModelFunction(Role::Prefill, rows, info));
  functions.push_back(makeModelFunction(Role::Mixed, 8, info));
  std::unique_ptr<HashModel> model;
  std::unique_ptr<BatchScheduler> scheduler;
  const auto begin = [&] {
    model = std::make_unique<HashModel>(functions, info);
    model->marksFunctions = true;
    scheduler = makeScheduler(*model, options);
  };
  begin();
  std::vector<Ids> all(24);
  for (int32_t request = 0; request < int32_t(all.size()); ++request) {
    Ids prompt(size_t(1 + request % 5 * 4), 7 + request % 2);
    if (request % 3 == 0)
      prompt.push_back(request);
    const auto onEnd = [&all, request](RequestResult result) {
      EXPECT_TRUE(result.status.ok()) << result.status;
      all[size_t(request)] = std::move(result.ids);
    };
    if (isAlone)
      begin();
    EXPECT_TRUE(scheduler->submit({.prompt = prompt, .maxTokens = 20, .onEnd = onEnd}).ok());
    for (int32_t step = 0; step < request % 3; ++step)
      EXPECT_TRUE(scheduler->step().ok());
    if (isAlone)
      runUntilIdle(*scheduler);
  }
  runUntilIdle(*scheduler);
  const BatchStatistics statistics = scheduler->statistics();
  EXPECT_EQ(statistics.mixedCalls > 0, !isAlone && !options.isBatchInvariant);
  if (!isAlone && options.reusesPrefixes)
    EXPECT_GT(statistics.reusedTokens, 0);
  if (!isAlone && info.isPaged())
    EXPECT_GT(statistics.preemptions, 0);
  return all;
}

// Over pages some requests lose theirs and are fed anew, over others' begins of prompts.
TEST(BatchScheduler, BatchInvariantAnswersAreThoseOfARequestAlone) {
  for (const ModelInfo& info : {HashModel::infoOf(4), HashModel::infoOf(4, 18, 4)}) {
    SCOPED_TRACE(info.pages);
    const BatchOptions invariant = {.isBatchInvariant = true};
    EXPECT_EQ(answersOf(info, invariant, /*isAlone=*/false),
              answersOf(info, invariant, /*isAlone=*/true));
    EXPECT_NE(answersOf(info, {}, /*isAlone=*/false), answersOf(info, {}, /*isAlone=*/true));
  }
}

/// The calls after which a request of `first` tokens that decodes and another one of `second` have ended.
std::vector<std::string> callsOfTwo(HashModel& model, const Ids& first, const Ids& second) {
  auto scheduler = makeScheduler(model, {.guessesInIdleRows = false});
  Answers answers;
  EXPECT_TRUE(
      scheduler->submit({.prompt = first, .maxTokens = 4, .onEnd = answers.collect()}).ok());
  EXPECT_TRUE(scheduler->step().ok());
  EXPECT_TRUE(
      scheduler->submit({.prompt = second, .maxTokens = 2, .onEnd = answers.collect()}).ok());
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(1).ids, answerOf(first, 4));
  EXPECT_EQ(answers.results.at(2).ids, answerOf(second, 2));
  return model.calls;
}

// Three tokens of the prompt beside each one of the request that decodes.
TEST(MixedCalls, HaveDecodeAndChunksOfPrompts) {
  const Ids prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  HashModel model({decode(2), prefill(8), mixed(4, 2)}, 2);
  EXPECT_THAT(callsOfTwo(model, {1, 2}, prompt),
              ElementsAre("prefill_8", "mixed_4", "mixed_4", "mixed_4", "decode_2"));
  // Mixed takes the place of Prefill where there is none.
  HashModel without({decode(2), mixed(4, 2)}, 2);
  EXPECT_THAT(callsOfTwo(without, {1, 2}, prompt),
              ElementsAre("mixed_4", "mixed_4", "mixed_4", "mixed_4", "decode_2"));
}

TEST(MixedCalls, HaveTheFewestRowsThatHoldAll) {
  HashModel model({decode(2), mixed(4, 2), mixed(16, 2)}, 2);
  EXPECT_THAT(callsOfTwo(model, {1, 2}, {1, 2, 3}),
              ElementsAre("mixed_4", "mixed_4", "decode_2", "decode_2"));
  HashModel more({decode(2), mixed(4, 2), mixed(16, 2)}, 2);
  EXPECT_THAT(callsOfTwo(more, {1, 2}, Ids(15, 3)),
              ElementsAre("mixed_4", "mixed_16", "decode_2", "decode_2"));
}

TEST(MixedCalls, FeedSeveralPromptsAtOnce) {
  HashModel model({decode(4), prefill(4), mixed(16, 4)}, 4);
  auto scheduler = makeScheduler(model);
  Answers answers;
  for (int32_t i = 0; i < 4; ++i)
    ASSERT_TRUE(
        scheduler->submit({.prompt = {i, 2, 3, 4, i}, .maxTokens = 1, .onEnd = answers.collect()})
            .ok());
  ASSERT_TRUE(scheduler->step().ok());
  EXPECT_EQ(answers.results.size(), 3u); // the fourth has fed one token
  runUntilIdle(*scheduler);
  EXPECT_THAT(model.calls, ElementsAre("mixed_16", "prefill_4"));
  for (int32_t i = 0; i < 4; ++i)
    EXPECT_EQ(answers.results.at(RequestId(i + 1)).ids, answerOf({i, 2, 3, 4, i}, 1));
  const BatchStatistics statistics = scheduler->statistics();
  EXPECT_EQ(statistics.mixedCalls, 1);
  EXPECT_EQ(statistics.mixedTokens, 16);
  EXPECT_EQ(statistics.prefillTokens, 4);
}

// Where as many sequences decode as the function has rows, prompts take turns with them.
TEST(MixedCalls, AreNoneWhereDecodeFillsThem) {
  HashModel model({decode(2), prefill(4), mixed(2, 3)}, 3);
  auto scheduler = makeScheduler(model, {.guessesInIdleRows = false});
  for (int32_t i = 0; i < 2; ++i)
    ASSERT_TRUE(scheduler->submit({.prompt = {i}, .maxTokens = 3}).ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(scheduler->submit({.prompt = {1, 2, 3, 4}, .maxTokens = 1}).ok());
  runUntilIdle(*scheduler);
  EXPECT_THAT(model.calls, ElementsAre("decode_2", "prefill_4", "decode_2", "decode_2"));
}

// Of a chunk that does not end its prompt nobody wants logits, drawn tokens or not.
TEST(MixedCalls, FetchLogitsWhereTheyEndAPromptThatDraws) {
  ModelInfo info = HashModel::infoOf(2);
  HashModel model({makeModelFunction(Role::Decode, 2, info, /*hasNextIds=*/true),
                   makeModelFunction(Role::Mixed, 4, info, /*hasNextIds=*/true)},
                  info);
  auto scheduler = makeScheduler(model, {.guessesInIdleRows = false});
  Answers answers;
  ASSERT_TRUE(
      scheduler->submit({.prompt = {1, 2}, .maxTokens = 9, .onEnd = answers.collect()}).ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(scheduler
                  ->submit({.prompt = {1, 2, 3, 4, 5},
                            .maxTokens = 1,
                            .sampling = {.temperature = 0.01f},
                            .onEnd = answers.collect()})
                  .ok());
  ASSERT_TRUE(scheduler->step().ok());
  EXPECT_EQ(model.logitsCalls, 0u);
  ASSERT_TRUE(scheduler->step().ok());
  EXPECT_EQ(model.logitsCalls, 1u);
  EXPECT_EQ(answers.results.at(2).ids, answerOf({1, 2, 3, 4, 5}, 1));
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.at(1).ids, answerOf({1, 2}, 9));
}

// The request takes a page for every four of its tokens while the other one's prompt is fed.
TEST(MixedCalls, GiveEachSequenceThatDecodesATokenAcrossPages) {
  const ModelInfo info = HashModel::infoOf(2, 24, 4);
  std::vector<Function> functions = pagedFunctions(info, {2}, {8});
  functions.push_back(makeModelFunction(Role::Mixed, 4, info));
  HashModel model(functions, info);
  auto scheduler = makeScheduler(model);
  int64_t tokens = 0;
  ASSERT_TRUE(scheduler
                  ->submit({.prompt = {1, 2},
                            .maxTokens = 30,
                            .onToken = [&](int32_t) { return ++tokens, true; }})
                  .ok());
  ASSERT_TRUE(scheduler->step().ok());
  ASSERT_TRUE(scheduler->submit({.prompt = Ids(24, 5), .maxTokens = 1}).ok());
  for (int64_t call = 1; call <= 8; ++call) {
    ASSERT_TRUE(scheduler->step().ok());
    EXPECT_EQ(model.calls.back(), "mixed_4");
    EXPECT_EQ(tokens, 1 + call);
  }
}

TEST(MixedCalls, TwoThousandRequestsWithCancelsLoseNothing) {
  HashModel model(
      {decode(1), decode(4), decode(8), prefill(4), prefill(16), mixed(6, 8), mixed(24, 8)}, 8);
  const BatchStatistics statistics = expectNothingIsLost(model, 2000);
  EXPECT_GT(statistics.reusedTokens, 500);
  EXPECT_GT(statistics.mixedCalls, statistics.prefillCalls);
  EXPECT_GT(statistics.decodeCalls, 0);
}

TEST(MixedCalls, TwoThousandRequestsLoseNothingWherePagesRunOut) {
  for (int64_t pages : {12, 15, 40}) {
    SCOPED_TRACE(pages);
    const ModelInfo info = HashModel::infoOf(8, pages, 4);
    std::vector<Function> functions = pagedFunctions(info, {1, 4, 8}, {4});
    for (int64_t rows : {3, 12})
      functions.push_back(makeModelFunction(Role::Mixed, rows, info));
    HashModel model(functions, info);
    const BatchStatistics statistics = expectNothingIsLost(model, 2000);
    EXPECT_EQ(statistics.freePages, pages);
    EXPECT_GT(statistics.preemptions, pages < 40 ? 20 : 0);
    EXPECT_GT(statistics.mixedCalls, 500);
  }
}

TEST(BatchScheduler, ThreadsMaySubmitAndCancel) {
  constexpr int threadCount = 3, each = 200;
  HashModel model({decode(4)}, 4);
  auto scheduler = makeScheduler(model);
  Answers answers; // touched by the thread of `step` alone
  std::atomic<int> working = threadCount;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < threadCount; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        auto id = scheduler->submit({.prompt = {int32_t(thread), int32_t(i % 60)},
                                     .maxTokens = 3,
                                     .onEnd = answers.collect()});
        EXPECT_TRUE(id.ok()) << id.status();
        if (i % 5 == 0)
          scheduler->cancel(*id);
      }
      --working;
    });
  while (working > 0)
    ASSERT_TRUE(scheduler->step().ok());
  for (std::thread& thread : threads)
    thread.join();
  runUntilIdle(*scheduler);
  EXPECT_EQ(answers.results.size(), size_t(threadCount * each));
}

} // namespace
} // namespace tenon::runtime
