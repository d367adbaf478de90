#include "tools/measure/Samples.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"

namespace tenon::tools {

void Samples::add(const Sample& sample) {
  if (!sample.isDisturbed)
    ns.push_back(sample.ns);
}

int64_t Samples::quantile(double share) const {
  if (ns.empty())
    return 0;
  std::vector<double> sorted = ns;
  std::ranges::sort(sorted);
  int64_t index = std::llround(share * static_cast<double>(sorted.size() - 1));
  return std::llround(sorted[index]);
}

bool Samples::areTrusted(size_t wanted) const {
  constexpr int64_t shortNs = 50; // what a clock's reading differs by, over some repetitions
  int64_t median = medianNs();
  return ns.size() >= wanted && median > 0 && spreadNs() <= std::max(median / 4, shortNs);
}

static constexpr const char* noiseType = "tenon/noise";

absl::Status noiseError(const char* what) {
  absl::Status status = absl::UnavailableError(absl::StrFormat(
      "%s is lost in this machine's noise; expects a machine without other work", what));
  status.SetPayload(noiseType, absl::Cord("noise"));
  return status;
}

bool isNoise(const absl::Status& status) { return status.GetPayload(noiseType).has_value(); }

/// How often a thread of this process has lost its core against its will.
static int64_t countCoresLost() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/// Threads of all processes that run or wait for a core; 0 where the system does not say.
static int64_t countRunnable() {
  std::string oneMinute, fiveMinutes, quarter;
  int64_t running = 0; // `0.20 0.18 0.12 1/80 11206`
  std::ifstream("/proc/loadavg") >> oneMinute >> fiveMinutes >> quarter >> running;
  return running;
}

HostWatch::HostWatch() : coresLost(countCoresLost()) {}

bool HostWatch::wasDisturbed(int threads) const {
  return countCoresLost() != coresLost ||
         (threads != 1 && countRunnable() > ::sysconf(_SC_NPROCESSORS_ONLN));
}

} // namespace tenon::tools
