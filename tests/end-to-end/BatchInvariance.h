#ifndef TENON_TESTS_END_TO_END_BATCHINVARIANCE_H
#define TENON_TESTS_END_TO_END_BATCHINVARIANCE_H

#include <cstring>
#include <map>

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

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_BATCHINVARIANCE_H
