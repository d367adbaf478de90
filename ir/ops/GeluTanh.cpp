#include <cmath>
#include <numbers>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

/// √(2/π) and the cubic's coefficient: Hendrycks and Gimpel 2016, arXiv 1606.08415.
static constexpr double rootTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
static constexpr double cubicCoefficient = 0.044715;

// Both take ½(1 + tanh u) as 1 / (1 + e⁻²ᵘ): no cancellation for negative x.

double detail::evaluateGeluTanh(double x) {
  double argument = rootTwoOverPi * (x + cubicCoefficient * x * x * x);
  return x / (1 + std::exp(-2 * argument));
}

Value detail::buildGeluTanh(OpBuilder& builder, Location loc, Value x) {
  auto splat = [&](double value) { return buildSplat(builder, loc, x.getType(), value); };
  Value square = arith::MulFOp::create(builder, loc, x, x);
  Value cubic =
      arith::MulFOp::create(builder, loc, square, splat(2 * rootTwoOverPi * cubicCoefficient));
  Value factor = arith::AddFOp::create(builder, loc, cubic, splat(2 * rootTwoOverPi));
  Value twiceArgument = arith::MulFOp::create(builder, loc, x, factor);
  return buildLogisticQuotient(builder, loc, x, twiceArgument);
}

double GeluTanhOp::evaluateElement(llvm::ArrayRef<double> x) {
  return detail::evaluateGeluTanh(x[0]);
}

Value GeluTanhOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildGeluTanh(builder, loc, operands[0]);
}

} // namespace tenon
