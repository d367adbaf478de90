// What a device that measures and repeats nothing says of it.
#include "runtime/Executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/runtime/HashModel.h"

namespace tenon::runtime {
namespace {

using ::tenon::tests::FailsWith;

struct NoObserver final : StepObserver {
  absl::Status before(size_t, StepMemory&) override { return absl::OkStatus(); }
  absl::Status after(size_t, StepMemory&) override { return absl::OkStatus(); }
};

TEST(Executor, SaysWhatADeviceDoesNotDo) {
  HashModel device({makeModelFunction(Role::Decode, 1, HashModel::vocabulary)}, 1);
  NoObserver observer;
  EXPECT_THAT(
      device.runObserved(0, {}, {}, observer),
      FailsWith(absl::StatusCode::kUnimplemented, "this device runs no single steps to observe"));
  EXPECT_THAT(device.repeatSteps(0, 1),
              FailsWith(absl::StatusCode::kUnimplemented,
                        "this device keeps no inputs to repeat a call's steps on"));
  EXPECT_THAT(device.countTraffic(0),
              FailsWith(absl::StatusCode::kUnimplemented, "no counter of this device is read"));
  EXPECT_THAT(device.readStamps(0),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "expects a program whose kernels leave stamps, but this one's leave none"));
}

} // namespace
} // namespace tenon::runtime
