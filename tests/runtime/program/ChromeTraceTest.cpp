#include "runtime/ChromeTrace.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runtime/program/TestPrograms.h"

namespace tenon::runtime {
namespace {

const StepProfile steps[] = {{3, 0, 1500, 1000, 4500}, {3, 1500, 250, 250, 750}};

TEST(ChromeTrace, HoldsEveryStepOfTheLastCall) {
  auto trace = nlohmann::json::parse(formatChromeTrace(test::richProgram(), 0, steps));
  const auto& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["args"]["name"], "cpu: decode");
  EXPECT_EQ(events[1]["name"], "embedding");
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[1]["ts"], 0.0);
  EXPECT_EQ(events[1]["dur"], 1.5);
  EXPECT_EQ(events[2]["name"], "matmul, bias");
  EXPECT_EQ(events[2]["ts"], 1.5);
  EXPECT_EQ(events[2]["dur"], 0.25);
  EXPECT_EQ(events[2]["args"], nlohmann::json::parse(R"({"kernel": "matmul", "tiles": 1,
      "constant_bytes": 24, "state_bytes": 128, "workspace_bytes": 128, "output_bytes": 40})"));
}

TEST(ChromeTrace, LeavesOutStepsThatWereNotProfiled) {
  const StepProfile none[2];
  auto trace = nlohmann::json::parse(formatChromeTrace(test::richProgram(), 0, none));
  EXPECT_EQ(trace["traceEvents"].size(), 1u);
}

TEST(ChromeTrace, SurvivesNamesThatAreNoUtf8) {
  Program program = test::richProgram();
  program.functions[0].steps[0].name = "\xff\"\n";
  auto trace = nlohmann::json::parse(formatChromeTrace(program, 0, steps));
  EXPECT_EQ(trace["traceEvents"][1]["name"], "\xef\xbf\xbd\"\n");
}

/// Two steps of richProgram: the second is there, and prefetches, while the first works.
StepTimeline twoSteps() {
  StepTimeline timeline;
  timeline.steps = {{.blocks = 3,
                     .firstEntryNs = 0,
                     .lastEntryNs = 100,
                     .firstWorkNs = 500,
                     .lastWorkNs = 600,
                     .firstExitNs = 3'000,
                     .lastExitNs = 4'000},
                    {.blocks = 1,
                     .firstEntryNs = 250,
                     .lastEntryNs = 250,
                     .firstWorkNs = 4'750,
                     .lastWorkNs = 4'750,
                     .firstExitNs = 9'000,
                     .lastExitNs = 9'000,
                     .gapNs = 750,
                     .aheadNs = 3'750}};
  return timeline;
}

TEST(ChromeTimelines, ShowGapsAndWhatIsThereEarly) {
  Program program = test::richProgram();
  const TracedCall calls[] = {{"unfused", &program, 0, twoSteps()},
                              {"fused", &program, 0, twoSteps()}};
  auto trace = nlohmann::json::parse(formatChromeTimelines(calls));
  const auto& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 16u);
  EXPECT_EQ(events[0]["args"]["name"], "unfused");
  EXPECT_EQ(events[8]["args"]["name"], "fused");
  EXPECT_EQ(events[8]["pid"], 1);
  EXPECT_EQ(events[1]["args"]["name"], "work");
  EXPECT_EQ(events[2]["name"], "embedding");
  EXPECT_EQ(events[2]["ts"], 0.5);
  EXPECT_EQ(events[2]["dur"], 3.5);
  EXPECT_EQ(events[2]["tid"], 0);
  EXPECT_EQ(events[4]["name"], "matmul, bias");
  EXPECT_EQ(events[4]["ts"], 4.75);
  EXPECT_EQ(events[4]["args"]["gap_ns"], 750);
  EXPECT_EQ(events[4]["args"]["kernel"], "matmul");
  EXPECT_FALSE(events[4]["args"].contains("unstamped_before"));
  // Both wait at the same time, on tracks of their own.
  EXPECT_EQ(events[3]["tid"], 1);
  EXPECT_EQ(events[5]["tid"], 2);
  EXPECT_EQ(events[5]["ts"], 0.25);
  EXPECT_EQ(events[5]["dur"], 4.5);
  EXPECT_EQ(events[7]["args"]["name"], "before the wait");
}

TEST(ChromeTimelines, LeaveOutStepsWithoutStamps) {
  Program program = test::richProgram();
  StepTimeline timeline = twoSteps();
  timeline.steps[0] = {};
  timeline.steps[1].unstampedBefore = 1;
  const TracedCall calls[] = {{"unfused", &program, 0, timeline}};
  auto trace = nlohmann::json::parse(formatChromeTimelines(calls));
  ASSERT_EQ(trace["traceEvents"].size(), 5u);
  EXPECT_EQ(trace["traceEvents"][2]["args"]["unstamped_before"], 1);
  EXPECT_THAT(std::string(writeChromeTimelines(calls, "/nowhere/at/all/timeline.json").message()),
              testing::HasSubstr("timeline.json: cannot write"));
}

TEST(ChromeTrace, WritesAFile) {
  std::string pattern = testing::TempDir() + "tenon-XXXXXX";
  std::filesystem::path folder = ::mkdtemp(pattern.data());
  Program program = test::richProgram();
  ASSERT_EQ(writeChromeTrace(program, 0, steps, folder / "trace.json"), absl::OkStatus());
  std::ifstream stream(folder / "trace.json");
  EXPECT_EQ(nlohmann::json::parse(stream)["traceEvents"].size(), 3u);
  absl::Status status = writeChromeTrace(program, 0, steps, folder / "missing" / "trace.json");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("trace.json: cannot write"));
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace tenon::runtime
