#include "runtime/cpu/HostFeatures.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(HostFeatures, AcceptsWhatEveryMachineHas) {
  EXPECT_EQ(checkHostFeatures({}), absl::OkStatus());
#if defined(__x86_64__)
  EXPECT_EQ(checkHostFeatures(std::vector<std::string>{"sse2", "cx8"}), absl::OkStatus());
#endif
}

TEST(HostFeatures, NamesEveryMissingOne) {
  absl::Status status =
      checkHostFeatures(std::vector<std::string>{"no-such-feature", "nor-this-one"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      std::string(status.message()),
      testing::AllOf(testing::StartsWith("the program expects CPU features that this machine ("),
                     testing::EndsWith(") lacks: no-such-feature, nor-this-one")));
}

} // namespace
} // namespace tenon::runtime
