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
