#ifndef TENON_TOOLS_VERIFY_COMPAREVALUES_H
#define TENON_TOOLS_VERIFY_COMPAREVALUES_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/ReferenceTensor.h"

namespace tenon::tools {

/// Elements of `elementBytes` bytes in which `a` and `b`, of one size, differ in any bit.
int64_t countDiffering(std::span<const std::byte> a, std::span<const std::byte> b,
                       int64_t elementBytes);

/// How far values of a device are from the reference. A unit in the last place (ULP) is the
/// distance between neighbours of the reference value in the element type, at least that of its
/// smallest normal value. Integers count one ULP each that is wrong; so does a value that is NaN or
/// infinite on one side alone, which is also counted by itself.
struct ReferenceError {
  int64_t elements = 0;
  int64_t notFinite = 0; ///< NaN or infinite on one side alone
  double maxUlp = 0;
  double sumUlp = 0;
  double maxDifference = 0; ///< of finite values
  double maxReference = 0;  ///< largest finite absolute value of the reference

  double meanUlp() const { return elements == 0 ? 0 : sumUlp / static_cast<double>(elements); }
  /// The largest difference over the largest value.
  double relative() const { return maxReference == 0 ? 0 : maxDifference / maxReference; }
  void add(const ReferenceError& other);
};

/// Compares `bytes`, in the encoding of the reference's element type, with the reference. With
/// `before`, the bytes of a cache before it was written, elements that neither side changed do not
/// count.
ReferenceError compareWithReference(const ReferenceTensor& reference,
                                    std::span<const std::byte> bytes,
                                    std::span<const std::byte> before = {});

} // namespace tenon::tools

#endif // TENON_TOOLS_VERIFY_COMPAREVALUES_H
