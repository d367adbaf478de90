#include "runtime/text/internal/PortableExp.h"

#include <cmath>

namespace tenon::runtime::internal {
namespace {

/// ln 2 in two parts; the first has 32 bits, so its product with n is exact.
constexpr double ln2High = 0x1.62e42feep-1;
constexpr double ln2Low = 0x1.a39ef35793c76p-33;
constexpr double log2E = 0x1.71547652b82fep+0;

/// 1/13!, 1/12!, …, 1/1!, 1/0!.
constexpr double coefficients[] = {1.0 / 6227020800,
                                   1.0 / 479001600,
                                   1.0 / 39916800,
                                   1.0 / 3628800,
                                   1.0 / 362880,
                                   1.0 / 40320,
                                   1.0 / 5040,
                                   1.0 / 720,
                                   1.0 / 120,
                                   1.0 / 24,
                                   1.0 / 6,
                                   1.0 / 2,
                                   1.0,
                                   1.0};

} // namespace

double portableExp(double x) {
  if (x < -700)
    return 0;
  const double n = std::floor(x * log2E + 0.5);
  const double high = n * ln2High;
  const double low = n * ln2Low;
  const double r = (x - high) - low;
  double sum = 0;
  for (double coefficient : coefficients) {
    const double product = sum * r;
    sum = product + coefficient;
  }
  return std::ldexp(sum, int(n));
}

} // namespace tenon::runtime::internal
