#include "tools/bench/RequestLoad.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/runtime/ModelProgram.h"
#include "tools/bench/BenchRequests.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::IsOk;

runtime::Program makeProgram() {
  return runtime::makeModelProgram({runtime::makeModelFunction(runtime::Role::Decode, 2, 50)},
                                   {"fake", "fake", 50, 16, 2});
}

class RequestFile : public testing::Test {
protected:
  absl::StatusOr<std::vector<TimedRequest>> read(const std::string& text) {
    std::ofstream(path) << text;
    return readRequests(path, makeProgram());
  }
  void expectError(const std::string& text, const std::string& message) {
    EXPECT_THAT(read(text).status().message(), HasSubstr(path + message)) << text;
  }

  tests::TempFolder folder;
  std::string path = folder.path("requests.jsonl");
};

TEST_F(RequestFile, HasARequestALine) {
  auto requests = read("{\"ids\": [3, 4], \"output\": 5}\n"
                       "\n"
                       "{\"input\": 7, \"output\": 0, \"arrival\": 0.25}\r\n");
  ASSERT_THAT(requests, IsOk());
  ASSERT_EQ(requests->size(), 2u);
  EXPECT_EQ((*requests)[0].prompt, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ((*requests)[0].maxTokens, 5);
  EXPECT_EQ((*requests)[0].arrivalS, 0);
  EXPECT_EQ((*requests)[1].prompt.size(), 7u);
  EXPECT_THAT((*requests)[1].prompt,
              testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(50))));
  EXPECT_EQ((*requests)[1].maxTokens, 0);
  EXPECT_EQ((*requests)[1].arrivalS, 0.25);
}

TEST_F(RequestFile, NamesTheLineOfWhatIsWrong) {
  const std::string good = "{\"ids\": [3], \"output\": 5, \"arrival\": 2}\n";
  expectError("", ": expects at least one request");
  expectError(good + "[1]", ":2: expects a JSON object");
  expectError(good + "{\"ids\": [3]", ":2: expects a JSON object");
  expectError("{\"ids\": [3], \"outptu\": 5}", ":1: expects the keys prompt, ids or input, output "
                                               "and arrival, but got 'outptu'");
  expectError("{\"ids\": [3]}", ":1: expects the key output");
  expectError("{\"output\": 3}", ":1: expects one of prompt, ids and input, but got 0 of them");
  expectError("{\"ids\": [3], \"input\": 3, \"output\": 3}",
              ":1: expects one of prompt, ids and input, but got 2 of them");
  expectError("{\"ids\": [3], \"output\": -1}",
              ":1: output: expects an integer from 0 on, but got -1");
  expectError("{\"ids\": [3], \"output\": 1.5}", ":1: output: expects an integer");
  expectError("{\"ids\": [3, -1], \"output\": 1}", ":1: ids: expects an array of token ids");
  expectError("{\"ids\": [4294967296], \"output\": 1}", ":1: ids: expects an array of token ids");
  expectError("{\"ids\": [[[[1]]]], \"output\": 1}", ":1: ids: expects an array of token ids");
  expectError("{\"ids\": 3, \"output\": 1}", ":1: ids: expects an array of token ids");
  expectError("{\"input\": 0, \"output\": 1}", ":1: input: expects an integer from 1 on");
  expectError("{\"input\": 17, \"output\": 1}", ":1: input: expects at most 16 tokens");
  expectError("{\"prompt\": 3, \"output\": 1}", ":1: prompt: expects a text, but got 3");
  expectError("{\"prompt\": \"a\", \"output\": 1}",
              ":1: prompt: expects a model with its tokeniser");
  expectError("{\"ids\": [3], \"output\": 1, \"arrival\": -1}",
              ":1: arrival: expects seconds from 0 on, but got -1");
  expectError(good + "{\"ids\": [3], \"output\": 1, \"arrival\": 1.5}",
              ":2: arrival: expects requests in the order of their arrival, but 1.5 comes after 2");
}

TEST(PoissonLoad, HasTheRateAndIsTheSameAtEveryCall) {
  const PoissonLoad load = {.perSecond = 20, .requests = 4000, .inputTokens = 3, .outputTokens = 9};
  std::vector<TimedRequest> requests = makePoissonLoad(load, 50), again = makePoissonLoad(load, 50);
  ASSERT_EQ(requests.size(), 4000u);
  EXPECT_NEAR(requests.back().arrivalS, 200, 10); // the sum's deviation is 200 / sqrt(4000)
  double squares = 0, before = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const TimedRequest& request = requests[i];
    ASSERT_GE(request.arrivalS, before);
    squares += (request.arrivalS - before) * (request.arrivalS - before);
    before = request.arrivalS;
    ASSERT_EQ(request.prompt.size(), 3u);
    EXPECT_EQ(request.maxTokens, 9);
    EXPECT_EQ(request.prompt, again[i].prompt);
    EXPECT_EQ(request.arrivalS, again[i].arrivalS);
  }
  EXPECT_NEAR(squares / 4000, 2.0 / 400, 1e-3); // of an exponential distribution: 2 / rate²
}

/// Answers id 0 to everything, in a time that it says.
class ZeroExecutor : public runtime::Executor {
public:
  const runtime::Program& program() const override { return held; }
  absl::Status run(size_t, std::span<const std::span<const std::byte>>,
                   std::span<const std::span<std::byte>> outputs) override {
    std::ranges::fill(outputs[0], std::byte(0));
    return absl::OkStatus();
  }
  absl::Status resetStates() override { return absl::OkStatus(); }
  uint64_t lastStepsNs() const override { return 1000; }

private:
  runtime::Program held = makeProgram();
};

TEST(BenchRequests, CountsWhatItOffered) {
  ZeroExecutor executor;
  std::vector<TimedRequest> load = {{0, {1, 2, 3}, 4}, {0, {5}, 1}, {0.01, {7, 7}, 0}};
  int64_t progress = -1;
  auto bench = benchRequests(executor, load, {}, [&](int64_t ended) { progress = ended; });
  ASSERT_THAT(bench, IsOk());
  EXPECT_EQ(progress, 3);
  EXPECT_EQ(bench->promptTokens, 6);
  EXPECT_EQ(bench->newTokens, 5);
  EXPECT_EQ(bench->queueNs.size(), 3u);
  EXPECT_EQ(bench->firstTokenNs.size(), 2u);
  EXPECT_EQ(bench->perTokenNs.size(), 1u);
  EXPECT_EQ(bench->requestNs.size(), 3u);
  EXPECT_EQ(bench->counts.decodeCalls,
            6 + 2); // 3 + 4 - 1 rows of the first, two tokens of the last
  EXPECT_EQ(bench->deviceNs, 8000u);
  EXPECT_EQ(bench->counts.mostRunning, 2);
  EXPECT_GE(bench->wallNs, 10'000'000u);
  EXPECT_THAT(formatRequestBench(*bench), HasSubstr("3 requests in"));
}

TEST(BenchRequests, NamesTheRequestThatIsRefused) {
  ZeroExecutor executor;
  std::vector<TimedRequest> load = {{0, {1}, 1}, {0, {50}, 1}};
  EXPECT_THAT(benchRequests(executor, load).status().message(),
              HasSubstr("request 2: scheduler: expects ids from 0 to 49, but got 50"));
}

} // namespace
} // namespace tenon::tools
