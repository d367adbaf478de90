#ifndef TENON_TOOLS_MEASURE_SAMPLES_H
#define TENON_TOOLS_MEASURE_SAMPLES_H

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace tenon::tools {

/// One time of something.
struct Sample {
  double ns = 0;
  bool isDisturbed = false; ///< other work on the machine may have lengthened it
};

/// Times of one thing. Those that other work has disturbed are left out.
class Samples {
public:
  void add(const Sample& sample);

  /// Those that nothing is known to have disturbed.
  size_t size() const { return ns.size(); }
  /// The median in ns; 0 where there are none.
  int64_t medianNs() const { return quantile(0.5); }
  /// Half of what lies between the quartiles, in ns.
  int64_t spreadNs() const { return (quantile(0.75) - quantile(0.25)) / 2; }
  /// True where there are `wanted` samples and they agree: their median is positive, and their
  /// spread at most a quarter of it, or 50 ns.
  bool areTrusted(size_t wanted) const;

private:
  int64_t quantile(double share) const;

  std::vector<double> ns;
};

/// That a time cannot be told from what else the machine does: the one error of a measurement after
/// which the others go on.
absl::Status noiseError(const char* what);
bool isNoise(const absl::Status& status);

/// Watches whether other work takes part of this machine's cores.
class HostWatch {
public:
  HostWatch();
  /// True where a thread of this process has lost its core to others since this was made, or, where
  /// several `threads` work together, more threads want to run than there are cores.
  bool wasDisturbed(int threads) const;

private:
  int64_t coresLost;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_SAMPLES_H
