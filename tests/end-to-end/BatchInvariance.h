#ifndef TENON_TESTS_END_TO_END_BATCHINVARIANCE_H
#define TENON_TESTS_END_TO_END_BATCHINVARIANCE_H

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/batching/BatchScheduler.h"
#include "runtime/program/ModelPorts.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {

/// Keeps the logits after each position that a call of its executor has given them for.
class LogitsOfPositions : public runtime::Executor {
public:
  explicit LogitsOfPositions(runtime::Executor& executor) : executor(executor) {}

  const runtime::Program& program() const override { return executor.program(); }
  absl::Status resetStates() override { return executor.resetStates(); }
  absl::Status run(size_t index, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override {
    TENON_RETURN_IF_ERROR(executor.run(index, inputs, outputs));
    const runtime::Function& function = program().functions[index];
    const auto read = [&](runtime::PortRole role) {
      const std::span<const std::byte> bytes = inputs[*runtime::findPort(function.inputs, role)];
      std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    };
    const std::vector<int32_t> positions = read(runtime::PortRole::Positions);
    const bool isPrefill = function.role == runtime::Role::Prefill;
    const auto logits = outputs[*runtime::findPort(function.outputs, runtime::PortRole::Logits)];
    const auto rowBytes = size_t(program().model->vocabulary) * sizeof(float);
    for (size_t row = 0; row < logits.size() / rowBytes; ++row) {
      const size_t of = isPrefill ? size_t(read(runtime::PortRole::OutputRows)[0]) : row;
      const auto bytes = logits.subspan(row * rowBytes, rowBytes);
      if (positions[of] >= 0)
        found[positions[of]].assign(bytes.begin(), bytes.end());
    }
    return absl::OkStatus();
  }

  std::map<int32_t, std::vector<std::byte>> found;

private:
  runtime::Executor& executor;
};

/// How a scheduler answers the prompts, of which each next one comes two steps later.
inline std::vector<runtime::RequestResult>
answersTo(runtime::Executor& executor, std::span<const std::vector<int32_t>> prompts) {
  auto scheduler = runtime::BatchScheduler::create(
                       executor, {.guessesInIdleRows = false, .isBatchInvariant = true})
                       .value();
  std::vector<runtime::RequestResult> results(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    auto onEnd = [&results, i](runtime::RequestResult result) {
      EXPECT_THAT(result.status, IsOk());
      results[i] = std::move(result);
    };
    EXPECT_THAT(scheduler->submit({.prompt = prompts[i],
                                   .maxTokens = 6,
                                   .sampling = {.temperature = 1, .seed = prompts[i].size()},
                                   .onEnd = onEnd}),
                IsOk());
    for (int step = 0; step < 2; ++step)
      EXPECT_THAT(scheduler->step(), IsOk());
  }
  while (scheduler->step().value()) {
  }
  return results;
}

/// That requests to a scheduler of the model on `executor`, which ends no texts, are answered in every
/// bit as each alone. Prompts of lengths whose answers have no position in common. The third one takes
/// over what the second has left of its begin; alone, its last token may stand in a chunk of its own.
inline void expectAnswersAsAlone(runtime::Executor& executor) {
  std::vector<std::vector<int32_t>> prompts = {
      {1, 403, 407}, std::vector<int32_t>(20), std::vector<int32_t>(33)};
  for (std::vector<int32_t>* prompt : {&prompts[1], &prompts[2]})
    for (size_t i = 0; i < prompt->size(); ++i)
      (*prompt)[i] = static_cast<int32_t>(1 + i * i % 499);
  LogitsOfPositions together(executor), alone(executor);
  const auto results = answersTo(together, prompts);
  EXPECT_EQ(results[2].reusedTokens, 16);
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(results[i].ids, answersTo(alone, std::span(prompts).subspan(i, 1))[0].ids) << i;
  EXPECT_EQ(together.found.size(), 3u * 6);
  for (const auto& [position, logits] : together.found)
    EXPECT_TRUE(logits == alone.found[position]) << "behind position " << position;
}

/// Submits `count` requests, of a few kinds in random order, to a scheduler of the model on `executor`, which
/// ends no texts, and cancels some of them at random: each ends once, and is answered as alone as far as
/// it went; no slot and no page is left.
inline void expectNothingIsLost(runtime::Executor& executor, int count) {
  constexpr int kinds = 40, maxTokens = 12;
  std::mt19937 random(11);
  auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  std::vector<std::vector<int32_t>> prompts(kinds);
  for (std::vector<int32_t>& prompt : prompts) {
    prompt = {1};
    for (int length = draw(0, 40); length > 0; --length)
      prompt.push_back(draw(3, length > 8 ? 6 : 500)); // so that some share their begins
  }
  auto makeScheduler = [&] {
    return runtime::BatchScheduler::create(executor, {.isBatchInvariant = true}).value();
  };
  auto runUntilIdle = [](runtime::BatchScheduler& scheduler) {
    while (scheduler.step().value()) {
    }
  };
  std::vector<std::vector<int32_t>> answers(kinds);
  auto alone = makeScheduler();
  for (int kind = 0; kind < kinds; ++kind) {
    auto keep = [&](runtime::RequestResult result) { answers[kind] = std::move(result.ids); };
    ASSERT_THAT(alone->submit({.prompt = prompts[kind], .maxTokens = maxTokens, .onEnd = keep}),
                IsOk());
    runUntilIdle(*alone);
    ASSERT_EQ(answers[kind].size(), size_t(maxTokens));
  }
  auto scheduler = makeScheduler();
  std::vector<int> ends(count + 1), cancels(count + 1); // by id, from 1 on
  int sent = 0, cancelled = 0, differ = 0;
  while (sent < count) {
    for (int more = draw(0, 6); more > 0 && sent < count; --more) {
      const int kind = draw(0, kinds - 1), wanted = draw(0, maxTokens);
      auto collect = [&, kind, wanted](const runtime::RequestResult& result) {
        ++ends[result.id];
        cancelled += absl::IsCancelled(result.status);
        const bool isWhole = result.status.ok() && int(result.ids.size()) == wanted;
        const bool isCut = absl::IsCancelled(result.status) && cancels[result.id] > 0;
        differ += !(isWhole || isCut) ||
                  !std::equal(result.ids.begin(), result.ids.end(), answers[kind].begin());
      };
      ASSERT_THAT(
          scheduler->submit({.prompt = prompts[kind], .maxTokens = wanted, .onEnd = collect}),
          IsOk());
      ++sent;
    }
    if (draw(0, 3) == 0 && sent > 0) {
      const int id = draw(std::max(1, sent - 20), sent);
      ++cancels[id];
      scheduler->cancel(id);
    }
    ASSERT_THAT(scheduler->step(), IsOk());
  }
  runUntilIdle(*scheduler);
  EXPECT_EQ(std::ranges::count(ends, 1), count);
  EXPECT_EQ(differ, 0);
  EXPECT_GT(cancelled, count / 100);
  const runtime::BatchStatistics statistics = scheduler->statistics();
  EXPECT_EQ(statistics.running + statistics.waiting + statistics.cachedTokens, 0);
  EXPECT_EQ(statistics.freePages, statistics.pages);
}

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_BATCHINVARIANCE_H
