// What memory moves, as counters say that are CUPTI's in all but their values.
#include "runtime/cuda/internal/Cupti.h"

#include <cupti_result.h>
#include <dlfcn.h>

#include "tests/common/StatusMatchers.h"
#include "tests/runtime/cuda/CudaExecutorTest.h"

namespace tenon::runtime::internal {
namespace {

using ::tenon::tests::FailsWith;
using test::ones;
using ::testing::HasSubstr;

/// An executor on a fake device with fake counters.
class CuptiTest : public test::CudaExecutorTest {
protected:
  CuptiTest() { fail("", CUPTI_SUCCESS); }

  static void* symbol(const char* name) {
    static void* library = ::dlopen(TENON_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    return library ? ::dlsym(library, name) : nullptr;
  }
  static void fail(const char* function, CUptiResult error) {
    reinterpret_cast<void (*)(const char*, int)>(symbol("fakeCuptiFail"))(function, error);
  }
  static int held() { return reinterpret_cast<int (*)()>(symbol("fakeCuptiHeld"))(); }

  std::unique_ptr<CudaExecutor> loadCalled(const std::string& path = TENON_FAKE_CUPTI) {
    auto executor = load(makeProgram(), {.counterPaths = {path}});
    EXPECT_EQ(failingCall(*executor, test::Sum), absl::OkStatus());
    return executor;
  }
};

TEST_F(CuptiTest, CountsTheStepsOfTheLastCall) {
  auto executor = loadCalled();
  for (int time = 0; time < 2; ++time) {
    absl::StatusOr<MemoryTraffic> traffic = executor->countTraffic(test::Sum);
    ASSERT_EQ(traffic.status(), absl::OkStatus());
    EXPECT_EQ(traffic->readBytes, 100u);
    EXPECT_EQ(traffic->writtenBytes, 10u);
    EXPECT_EQ(traffic->bytes(), 110u);
  }
  EXPECT_THAT(
      executor->countTraffic(test::Piece),
      FailsWith(absl::StatusCode::kFailedPrecondition, HasSubstr("the function of the last call")));
  executor.reset();
  EXPECT_EQ(held(), 0);
}

TEST_F(CuptiTest, RunsTheWorkOnceAPass) {
  auto device = Device::open(fake.driver(), 0);
  ASSERT_EQ(device.status(), absl::OkStatus());
  const std::string path = TENON_FAKE_CUPTI;
  auto counters = Cupti::open({&path, 1}, *device);
  ASSERT_EQ(counters.status(), absl::OkStatus());
  int runs = 0;
  auto work = [&] {
    ++runs;
    return absl::OkStatus();
  };
  EXPECT_EQ(counters->count(work).status(), absl::OkStatus());
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(counters->count([] { return absl::InternalError("the work's own"); }),
              FailsWith(absl::StatusCode::kInternal, "the work's own"));
  EXPECT_EQ(held(), 1) << "the description of the counters";
}

TEST_F(CuptiTest, SaysWhoMayReadCounters) {
  auto executor = loadCalled();
  fail("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_THAT(executor->countTraffic(test::Sum),
              FailsWith(absl::StatusCode::kPermissionDenied,
                        "CUPTI may not take hold of the device's counters: "
                        "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; the driver's option "
                        "NVreg_RestrictProfilingToAdminUsers=0 lets others than administrators "
                        "read counters"));
}

TEST_F(CuptiTest, SaysWhatCuptiCannot) {
  const std::pair<const char*, const char*> failures[] = {
      {"cuptiProfilerInitialize", "start"},
      {"cuptiDeviceGetChipName", "name the device's chip"},
      {"cuptiProfilerGetCounterAvailability", "ask for the device's counters"},
      {"cuptiProfilerHostInitialize", "describe the device's counters"},
      {"cuptiProfilerHostConfigAddMetrics", "count bytes of memory"},
      {"cuptiProfilerHostGetConfigImageSize", "configure counters"},
      {"cuptiProfilerHostGetConfigImage", "configure counters"},
      {"cuptiRangeProfilerEnable", "take hold of the device's counters"},
      {"cuptiRangeProfilerGetCounterDataSize", "size the counters' data"},
      {"cuptiRangeProfilerCounterDataImageInitialize", "initialise the counters' data"},
      {"cuptiRangeProfilerSetConfig", "set the counters"},
      {"cuptiRangeProfilerStart", "start the counters"},
      {"cuptiRangeProfilerPushRange", "begin a range"},
      {"cuptiRangeProfilerPopRange", "end a range"},
      {"cuptiRangeProfilerStop", "stop the counters"},
      {"cuptiRangeProfilerDecodeData", "read the counters"},
      {"cuptiProfilerHostEvaluateToGpuValues", "add up the counters"},
      {"cuptiRangeProfilerDisable", "let go of the device's counters"}};
  for (const auto& [function, action] : failures) {
    fail("", CUPTI_SUCCESS);
    auto executor = loadCalled();
    fail(function, CUPTI_ERROR_UNKNOWN);
    EXPECT_THAT(
        executor->countTraffic(test::Sum),
        FailsWith(absl::StatusCode::kInternal,
                  HasSubstr(std::string("CUPTI cannot ") + action + ": CUPTI_ERROR_OF_TESTS")))
        << function;
    EXPECT_EQ(failingCall(*executor, test::Sum), absl::OkStatus()) << "calls go on";
    executor.reset();
    EXPECT_EQ(held(), 0) << function;
  }
}

TEST_F(CuptiTest, SaysThatThereIsNone) {
  EXPECT_THAT(loadCalled("/nonexistent.so")->countTraffic(test::Sum),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("this machine lacks CUPTI; ")));
  EXPECT_THAT(loadCalled(TENON_NO_ALGORITHMS)->countTraffic(test::Sum),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("expects CUPTI 13, but found no cuptiGetResultString")));
}

} // namespace
} // namespace tenon::runtime::internal
