#ifndef TENON_TOOLS_DRIVER_INTERNAL_RANDOMWEIGHTS_H
#define TENON_TOOLS_DRIVER_INTERNAL_RANDOMWEIGHTS_H

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::tools {

/// A sequence of Gaussian numbers of which any part can be made on its own.
///
/// Number i is a pure function of (seed, name, i): 64 bits from SplitMix64's output function
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) of a counter
/// serve four numbers; each takes 16 bits as an index into a table of the normal distribution's
/// 65536 quantiles. So the largest magnitude is 4.3 deviations, and no logarithm is computed.
class GaussianSequence {
public:
  GaussianSequence(uint64_t seed, std::string_view name, float mean, float deviation);

  /// Writes numbers `first`, `first` + 1, … to `values`. `first` must be a multiple of 4.
  void fill(uint64_t first, std::span<float> values) const;

private:
  uint64_t key;
  float mean;
  float deviation;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_INTERNAL_RANDOMWEIGHTS_H
