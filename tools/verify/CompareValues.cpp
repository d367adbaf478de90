#include "tools/verify/CompareValues.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ir/Dialect.h"

namespace tenon::tools {

int64_t countDiffering(std::span<const std::byte> a, std::span<const std::byte> b,
                       int64_t elementBytes) {
  int64_t differing = 0;
  for (size_t at = 0; at < a.size(); at += elementBytes)
    differing += std::memcmp(&a[at], &b[at], elementBytes) != 0;
  return differing;
}

void ReferenceError::add(const ReferenceError& other) {
  elements += other.elements;
  notFinite += other.notFinite;
  maxUlp = std::max(maxUlp, other.maxUlp);
  sumUlp += other.sumUlp;
  maxDifference = std::max(maxDifference, other.maxDifference);
  maxReference = std::max(maxReference, other.maxReference);
}

/// The distance between neighbours of `value` in `type`; 1 for integers.
static double ulpOf(double value, mlir::Type type) {
  auto floating = llvm::dyn_cast<mlir::FloatType>(type);
  if (!floating)
    return 1;
  const llvm::fltSemantics& semantics = floating.getFloatSemantics();
  int precision = llvm::APFloat::semanticsPrecision(semantics);
  int least = llvm::APFloat::semanticsMinExponent(semantics);
  int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - precision + 1);
}

static void addElement(double reference, double value, mlir::Type type, ReferenceError& error) {
  ++error.elements;
  bool isSame = reference == value || (std::isnan(reference) && std::isnan(value));
  if (std::isfinite(reference))
    error.maxReference = std::max(error.maxReference, std::fabs(reference));
  if (isSame)
    return;
  double ulps = 1;
  if (std::isfinite(reference) && std::isfinite(value)) {
    double difference = std::fabs(value - reference);
    error.maxDifference = std::max(error.maxDifference, difference);
    ulps = type.isInteger() ? 1 : difference / ulpOf(reference, type);
  } else {
    ++error.notFinite;
  }
  error.maxUlp = std::max(error.maxUlp, ulps);
  error.sumUlp += ulps;
}

bool isFar(const ReferenceError& error, mlir::Type elementType) {
  constexpr double tolerance = 0.01, toleranceOfBf16 = 0.04;
  if (elementType.isInteger())
    return false;
  double most = elementType.isBF16() ? toleranceOfBf16 : tolerance;
  return error.notFinite > 0 || error.maxDifference > most * error.maxReference;
}

ReferenceError compareWithReference(const ReferenceTensor& reference,
                                    std::span<const std::byte> bytes,
                                    std::span<const std::byte> before) {
  mlir::Type type = reference.getType().getElementType();
  const Encoding& encoding = *getEncoding(type);
  std::vector<double> values(reference.getNumElements()), old(before.empty() ? 0 : values.size());
  encoding.decode(bytes, values);
  if (!before.empty())
    encoding.decode(before, old);
  std::vector<double> scratch;
  llvm::ArrayRef<double> expected = reference.getAll(scratch);
  ReferenceError error;
  for (size_t i = 0; i < values.size(); ++i)
    if (before.empty() || expected[i] != old[i] || values[i] != old[i])
      addElement(expected[i], values[i], type, error);
  return error;
}

} // namespace tenon::tools
