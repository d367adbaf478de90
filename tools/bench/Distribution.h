#ifndef TENON_TOOLS_BENCH_DISTRIBUTION_H
#define TENON_TOOLS_BENCH_DISTRIBUTION_H

#include <cstdint>
#include <vector>

namespace tenon::tools {

/// Times of equal work, in ns.
struct Distribution {
  uint64_t minNs = 0, medianNs = 0, p90Ns = 0, p95Ns = 0, p99Ns = 0, maxNs = 0;
  double meanNs = 0;
  double deviationNs = 0; ///< standard deviation of the sample
};

/// Of at least one sample. Percentiles are of nearest rank: the smallest sample that at least that
/// share of all samples does not exceed.
Distribution summarize(std::vector<uint64_t> samplesNs);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_DISTRIBUTION_H
