#include "runtime/cuda/internal/RandomFill.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tenon::runtime::internal {
namespace {

TEST(RandomFill, AssemblesForEveryTarget) {
  std::string pattern = testing::TempDir() + "tenon-XXXXXX";
  std::filesystem::path folder = ::mkdtemp(pattern.data());
  std::ofstream(folder / "random.ptx") << randomFillPtx;
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    std::string command = std::string(TENON_PTXAS " -arch=") + arch + " -o " +
                          (folder / "random.cubin").string() + " " +
                          (folder / "random.ptx").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command; // NOLINT(bugprone-command-processor)
  }
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace tenon::runtime::internal
