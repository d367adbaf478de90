#include "tools/measure/Samples.h"

#include <sched.h>

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::tools {
namespace {

Samples samplesOf(std::initializer_list<double> times) {
  Samples samples;
  for (double ns : times)
    samples.add({ns});
  return samples;
}

TEST(Samples, AreTrustedWhereTheyAgree) {
  Samples samples = samplesOf({1000, 990, 1010, 1005, 5000});
  EXPECT_EQ(samples.medianNs(), 1005);
  EXPECT_TRUE(samples.areTrusted(5));
  EXPECT_FALSE(samples.areTrusted(6));
}

TEST(Samples, AreNotTrustedWhereTheyDoNot) {
  EXPECT_FALSE(samplesOf({1000, 2000, 3000, 4000, 5000}).areTrusted(5));
  EXPECT_FALSE(samplesOf({-20, -10, 5}).areTrusted(3)); // a longer run takes no longer
  EXPECT_TRUE(samplesOf({40, 60, 90}).areTrusted(3));   // within what a clock's reading differs by
  EXPECT_FALSE(Samples().areTrusted(0));
}

TEST(Samples, LeaveOutWhatWasDisturbed) {
  Samples samples = samplesOf({1000, 1000, 1000});
  for (int i = 0; i < 10; ++i)
    samples.add({100'000, /*isDisturbed=*/true});
  EXPECT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples.medianNs(), 1000);
  EXPECT_TRUE(samples.areTrusted(3));
}

TEST(Noise, IsToldFromOtherErrors) {
  absl::Status noise = noiseError("the time of a kernel");
  EXPECT_TRUE(isNoise(noise));
  EXPECT_EQ(noise.message(), "the time of a kernel is lost in this machine's noise; expects a "
                             "machine without other work");
  EXPECT_FALSE(isNoise(absl::OkStatus()));
  EXPECT_FALSE(isNoise(absl::UnavailableError("no device")));
}

/// Two threads on one core take it from each other.
TEST(HostWatch, SeesALostCore) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before))
    ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  HostWatch watch;
  auto spin = [end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300)] {
    while (std::chrono::steady_clock::now() < end)
      ;
  };
  std::thread other(spin);
  spin();
  other.join();
  ::sched_setaffinity(0, sizeof(before), &before);
  EXPECT_TRUE(watch.wasDisturbed(1));
}

} // namespace
} // namespace tenon::tools
