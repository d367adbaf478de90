#include "passes/cost/MeasuredPoints.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::tests {
namespace {

using passes::cost::MeasuredPoints;
using testing::HasSubstr;
using testing::Optional;

const passes::cost::MeasuredOn here{"h200", "580", "graph"};

TEST(MeasuredPoints, LastForKernelTargetLaunchAndDevice) {
  TempFolder folder;
  std::string path = folder.path("points.sqlite");
  {
    auto points = MeasuredPoints::openToAdd(path, here);
    ASSERT_THAT(points, IsOk());
    EXPECT_THAT((*points)->add("0123456789abcdef", 1900), IsOk());
    EXPECT_THAT((*points)->add("0123456789abcdef", 1850), IsOk());
  }
  auto points = MeasuredPoints::open(path, here);
  ASSERT_THAT(points, IsOk());
  EXPECT_THAT((*points)->find("0123456789abcdef"), Optional(1850));
  EXPECT_EQ((*points)->find("0123456789abcdee"), std::nullopt);
  auto otherDriver = MeasuredPoints::open(path, {"h200", "590", "graph"});
  ASSERT_THAT(otherDriver, IsOk());
  EXPECT_EQ((*otherDriver)->find("0123456789abcdef"), std::nullopt);
  auto otherTarget = MeasuredPoints::open(path, {"h100", "580", "graph"});
  ASSERT_THAT(otherTarget, IsOk());
  EXPECT_EQ((*otherTarget)->find("0123456789abcdef"), std::nullopt);
  auto otherLaunch = MeasuredPoints::open(path, {"h200", "580", "graph-pdl"});
  ASSERT_THAT(otherLaunch, IsOk());
  EXPECT_EQ((*otherLaunch)->find("0123456789abcdef"), std::nullopt);
}

TEST(MeasuredPoints, LastOfAnyDeviceWhereNoneIsNamed) {
  TempFolder folder;
  std::string path = folder.path("points.sqlite");
  for (auto [device, ns] : {std::pair("590", 1700), {"580", 1850}}) {
    auto points = MeasuredPoints::openToAdd(path, {"h200", device, "graph"});
    ASSERT_THAT(points, IsOk());
    EXPECT_THAT((*points)->add("0123456789abcdef", ns), IsOk());
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // times are kept in ms
  }
  auto points = MeasuredPoints::open(path, {"h200", "", "graph"});
  ASSERT_THAT(points, IsOk());
  EXPECT_THAT((*points)->find("0123456789abcdef"), Optional(1850));
}

TEST(MeasuredPoints, NoTimeOfZero) {
  TempFolder folder;
  auto points = MeasuredPoints::openToAdd(folder.path("points.sqlite"), here);
  ASSERT_THAT(points, IsOk());
  EXPECT_THAT((*points)->add("0123456789abcdef", 0),
              FailsWith(absl::StatusCode::kUnavailable, HasSubstr("CHECK")));
}

TEST(MeasuredPoints, NoDatabase) {
  TempFolder folder;
  std::string path = folder.path("text");
  std::ofstream(path) << "no database at all, but long enough for SQLite to look at its header\n";
  EXPECT_THAT(MeasuredPoints::open(path, here),
              FailsWith(absl::StatusCode::kUnavailable, HasSubstr(path)));
  EXPECT_THAT(MeasuredPoints::open(folder.path("none/points.sqlite"), here),
              FailsWith(absl::StatusCode::kUnavailable, HasSubstr("none/points.sqlite")));
}

/// Looking times up makes no tables in other people's databases, and no files.
TEST(MeasuredPoints, LookingUpChangesNothing) {
  TempFolder folder;
  std::string path = folder.path("foreign.sqlite");
  sqlite3* foreign = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &foreign), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(foreign, "CREATE TABLE photos (name TEXT)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  std::string before = readFile(path);
  EXPECT_THAT(MeasuredPoints::open(path, here),
              FailsWith(absl::StatusCode::kUnavailable, HasSubstr("no such table: kernel_times")));
  EXPECT_EQ(readFile(path), before);
  ASSERT_EQ(
      sqlite3_exec(foreign, "CREATE TABLE kernel_times (kernel TEXT)", nullptr, nullptr, nullptr),
      SQLITE_OK);
  for (auto open : {MeasuredPoints::open, MeasuredPoints::openToAdd})
    EXPECT_THAT(open(path, here),
                FailsWith(absl::StatusCode::kUnavailable, HasSubstr("no such column: target")));
  sqlite3_close(foreign);
  EXPECT_FALSE(MeasuredPoints::open(folder.path("none.sqlite"), here).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path("none.sqlite")));
}

TEST(MeasuredPoints, ALockedDatabaseIsNotWaitedFor) {
  TempFolder folder;
  std::string path = folder.path("points.sqlite");
  ASSERT_THAT(MeasuredPoints::openToAdd(path, here), IsOk());
  auto opened = MeasuredPoints::open(path, here);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(MeasuredPoints::open(path, here),
              FailsWith(absl::StatusCode::kUnavailable, HasSubstr("database is locked")));
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ((*opened)->find("0123456789abcdef"), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_THAT(warnings, testing::EndsWith("database is locked; no times are taken from it\n"));
  EXPECT_EQ(std::ranges::count(warnings, '\n'), 1);
  sqlite3_close(other);
}

} // namespace
} // namespace tenon::tests
