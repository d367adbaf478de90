#ifndef TENON_IR_OPS_INTERNAL_DOT_H
#define TENON_IR_OPS_INTERNAL_DOT_H

#include "llvm/ADT/ArrayRef.h"

namespace tenon::detail {

/// Σ a[i] · b[i] over equally long rows, in partial sums that do not wait for one another: one sum
/// alone is bound by the latency of its additions.
inline double dot(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  constexpr size_t lanes = 8;
  double sums[lanes] = {};
  size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  double sum = 0;
  for (; i < a.size(); ++i)
    sum += a[i] * b[i];
  for (double partial : sums)
    sum += partial;
  return sum;
}

} // namespace tenon::detail

#endif // TENON_IR_OPS_INTERNAL_DOT_H
