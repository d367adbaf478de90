#include "tools/bench/Distribution.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tenon::tools {

Distribution summarize(std::vector<uint64_t> samples) {
  assert(!samples.empty());
  std::ranges::sort(samples);
  auto percentile = [&](size_t percent) {
    return samples[(samples.size() * percent + 99) / 100 - 1];
  };
  Distribution result{.minNs = samples.front(),
                      .medianNs = percentile(50),
                      .p90Ns = percentile(90),
                      .p95Ns = percentile(95),
                      .p99Ns = percentile(99),
                      .maxNs = samples.back()};
  auto count = static_cast<double>(samples.size());
  result.meanNs = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (uint64_t sample : samples) {
    double distance = static_cast<double>(sample) - result.meanNs;
    squares += distance * distance;
  }
  result.deviationNs = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return result;
}

} // namespace tenon::tools
