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

/// True where a result of floats is further from the reference than any way of computing it: by more
/// than 1 %, for bf16 4 %, of its largest value, or not finite on one side alone. What that must allow
/// is TF32, which keeps 2^-11 of each factor, and a few roundings after one another in a fused region,
/// of 2^-9 each in bf16; a wrong formula, or a result that was never written, is off by far more.
/// Integers are places of largest elements, of which equal ones may change: never far.
bool isFar(const ReferenceError& error, mlir::Type elementType);

/// Compares `bytes`, in the encoding of the reference's element type, with the reference. With
/// `before`, the bytes of a cache before it was written, elements that neither side changed do not
/// count.
ReferenceError compareWithReference(const ReferenceTensor& reference,
                                    std::span<const std::byte> bytes,
                                    std::span<const std::byte> before = {});

} // namespace tenon::tools

#endif // TENON_TOOLS_VERIFY_COMPAREVALUES_H
