#ifndef TENON_TESTS_TOLERANCES_H
#define TENON_TESTS_TOLERANCES_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_format.h"

/// How far results may be from a reference, for every test that compares the two.
namespace tenon::tests {

/// f32 results: max |a − b| ≤ 1e-4 · max |b|. The interpreter stays within 2e-7 of references in
/// double on stories260K and tiny-neox; a wrong formula is off by far more: the serial form of
/// tiny-neox by 0.7.
inline constexpr double relativeToLargest = 1e-4;

/// The same where everything is double: the interpreter without rounding, against a reference in
/// double. What remains is that frequencies, epsilons and the reference's file are f32: up to 6e-8
/// on these models.
inline constexpr double relativeToLargestInDouble = 1e-6;

/// The distance of neighbouring numbers of a 16-bit type, relative to the number: one rounding step
/// more than f32 is allowed there, since a sum may fall on the other side of a rounding boundary.
inline double roundingStep(std::string_view elementType) {
  if (elementType == "f16")
    return 0x1p-10;
  if (elementType == "bf16")
    return 0x1p-7;
  return 0;
}

/// The first element of `actual` too far from `expected`, in words; nullopt where there is none.
/// NaN and infinities must be equal. `expected` is rounded to the element type.
inline std::optional<std::string> findMismatch(std::span<const double> actual,
                                               std::span<const double> expected,
                                               std::string_view elementType) {
  double largest = 0;
  for (double value : expected)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    double a = actual[i], b = expected[i];
    if ((std::isnan(a) && std::isnan(b)) || a == b)
      continue;
    bool isExact = elementType == "i32" || elementType == "i64" || elementType == "bool";
    double allowed =
        isExact ? 0 : relativeToLargest * largest + roundingStep(elementType) * std::abs(b);
    if (!(std::abs(a - b) <= allowed))
      return absl::StrFormat("element %u is %.9g, expected %.9g within %.3g", i, a, b, allowed);
  }
  return std::nullopt;
}

} // namespace tenon::tests

#endif // TENON_TESTS_TOLERANCES_H
