// What is printed of a program's report, which comes from anybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "runtime/program/Program.h"
#include "tools/report/ProgramReport.h"

namespace tenon::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

runtime::Program makeProgram(std::string report) {
  runtime::Program program;
  program.target = "h200";
  program.device = "cuda";
  program.kernels = {{"k0_rms_norm", 0, runtime::CudaLaunch{.threads = 128, .sharedBytes = 96}, 7},
                     {"cublaslt", 0, runtime::LibraryMatmul{}, 1}};
  program.functions = {{"f", runtime::Role::Other, 0, {}, {}, {{0, 7, {}, "norm"}}}};
  program.report = std::move(report);
  return program;
}

TEST(ProgramReport, SaysWhereAProgramComesFrom) {
  runtime::Program program = makeProgram(R"({"version": "0.1.0", "commit": "abc", "plan": "auto",
    "launch": "graph", "decisions": [{"function": "f", "rule": "norm-matmul", "taken": false,
    "ops": ["rms_norm", "matmul"], "times": 16, "reason": "takes 5 ns longer"}]})");
  std::string text = formatProgram(program, "f.tnn");
  EXPECT_THAT(text, HasSubstr("made   by Tenon 0.1.0, commit abc, plan auto, launch graph\n"));
  EXPECT_THAT(text, HasSubstr("  f: not fused, 16 times: norm-matmul: [\"rms_norm\",\"matmul\"]: "
                              "takes 5 ns longer\n"));
  EXPECT_THAT(text, HasSubstr("1 steps, 7 tiles, 128 threads, 96 bytes of shared memory\n"));
  EXPECT_THAT(text, HasSubstr("0 steps, 1 tiles, of a library\n"));
  EXPECT_EQ(describeProgram(program, "f.tnn")["report"]["commit"], "abc");
}

TEST(ProgramReport, ReadsNoReportThatIsNone) {
  for (const char* report : {"", "{", "[1]", "null"}) {
    EXPECT_THAT(formatProgram(makeProgram(report), "f.tnn"), Not(HasSubstr("made   by"))) << report;
    EXPECT_TRUE(describeProgram(makeProgram(report), "f.tnn")["report"].is_null()) << report;
  }
  std::string text =
      formatProgram(makeProgram(R"({"commit": "\u001b[2J", "decisions": [7]})"), "f.tnn");
  EXPECT_THAT(text, HasSubstr("commit \\x1b[2J, plan"));
  EXPECT_THAT(text, HasSubstr("1 decisions of fusion\n"));
}

/// Printing recurses: a million brackets would overflow the stack.
TEST(ProgramReport, LeavesOutWhatNestsTooDeep) {
  std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  runtime::Program program = makeProgram(R"({"commit": "abc", "plan": )" + deep + "}");
  EXPECT_THAT(formatProgram(program, "f.tnn"), HasSubstr("commit abc"));
  EXPECT_LT(describeProgram(program, "f.tnn").dump().size(), 10'000u);
}

} // namespace
} // namespace tenon::tools
