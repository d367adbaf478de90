#include <cmath>
#include <numbers>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

static constexpr double inverseRootTwo = 1 / std::numbers::sqrt2;

double detail::evaluateGelu(double x) { return 0.5 * x * std::erfc(-x * inverseRootTwo); }

Value detail::buildGelu(OpBuilder& builder, Location loc, Value x) {
  auto splat = [&](double value) { return buildSplat(builder, loc, x.getType(), value); };
  Value scaled = arith::MulFOp::create(builder, loc, x, splat(inverseRootTwo));
  Value error = math::ErfOp::create(builder, loc, scaled);
  Value sum = arith::AddFOp::create(builder, loc, error, splat(1));
  Value half = arith::MulFOp::create(builder, loc, x, splat(0.5));
  return arith::MulFOp::create(builder, loc, half, sum);
}

double GeluOp::evaluateElement(llvm::ArrayRef<double> x) { return detail::evaluateGelu(x[0]); }

Value GeluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildGelu(builder, loc, operands[0]);
}

} // namespace tenon
