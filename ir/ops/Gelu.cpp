#include <cmath>
#include <numbers>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double detail::evaluateGelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

/// x · Φ(x), where Φ(−|x|) = 2^(−1 + |x| · P(|x|)). P is a minimax polynomial for |x| up to 6
/// (Lawson, Φ within 2^-25), beyond which the power goes on falling. 1 + erf would take a
/// polynomial for small values, one for others, and has no digit left of Φ at −6.
Value detail::buildGelu(OpBuilder& builder, Location loc, Value x) {
  auto splat = [&](double value) { return buildSplat(builder, loc, x.getType(), value); };
  Value size = math::AbsFOp::create(builder, loc, x);
  Value exponent = splat(-0x1.952544p-20);
  for (double coefficient : {0x1.9de3e6p-16, -0x1.018d2p-13, -0x1.1db1fcp-12, 0x1.d8e39ep-8,
                             -0x1.aec396p-5, -0x1.d634c2p-2, -0x1.26aef4p+0, -1.0})
    exponent = math::FmaOp::create(builder, loc, exponent, size, splat(coefficient));
  Value tail = math::Exp2Op::create(builder, loc, exponent);
  Value rest = arith::SubFOp::create(builder, loc, splat(1), tail);
  Value isNegative = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, splat(0));
  Value share = arith::SelectOp::create(builder, loc, isNegative, tail, rest);
  return arith::MulFOp::create(builder, loc, x, share);
}

double GeluOp::evaluateElement(llvm::ArrayRef<double> x) { return detail::evaluateGelu(x[0]); }

Value GeluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildGelu(builder, loc, operands[0]);
}

} // namespace tenon
