#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double detail::evaluateSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Value detail::buildLogisticQuotient(OpBuilder& builder, Location loc, Value numerator, Value x) {
  Value one = buildSplat(builder, loc, x.getType(), 1.0f);
  Value negated = arith::NegFOp::create(builder, loc, x);
  Value exponential = math::ExpOp::create(builder, loc, negated);
  Value denominator = arith::AddFOp::create(builder, loc, one, exponential);
  // The denominator is at least one, and where it overflows the quotient is next to nothing.
  return arith::DivFOp::create(builder, loc, numerator, denominator, arith::FastMathFlags::afn);
}

Value detail::buildSigmoid(OpBuilder& builder, Location loc, Value x) {
  return buildLogisticQuotient(builder, loc, buildSplat(builder, loc, x.getType(), 1.0f), x);
}

double SigmoidOp::evaluateElement(llvm::ArrayRef<double> x) {
  return detail::evaluateSigmoid(x[0]);
}

Value SigmoidOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildSigmoid(builder, loc, operands[0]);
}

} // namespace tenon
