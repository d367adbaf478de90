#include "passes/cost/MeasuredPoints.h"

#include <chrono>
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
    auto points = MeasuredPoints::open(path, here);
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
    auto points = MeasuredPoints::open(path, {"h200", device, "graph"});
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
  auto points = MeasuredPoints::open(folder.path("points.sqlite"), here);
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

} // namespace
} // namespace tenon::tests
