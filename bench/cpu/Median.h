#ifndef TENON_BENCH_CPU_MEDIAN_H
#define TENON_BENCH_CPU_MEDIAN_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace tenon::bench {

/// The middle of `values`, which are not empty; the greater of two.
inline double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The seconds that `work` takes.
template <typename Work> double measureSeconds(Work work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace tenon::bench

#endif // TENON_BENCH_CPU_MEDIAN_H
