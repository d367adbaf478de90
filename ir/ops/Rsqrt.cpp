#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double RsqrtOp::evaluateElement(llvm::ArrayRef<double> x) { return 1 / std::sqrt(x[0]); }

/// A square root and a division, each correctly rounded, so that every backend gives the same
/// bits; `math.rsqrt` is an approximation on some.
Value RsqrtOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value one = detail::buildSplat(builder, loc, operands[0].getType(), 1.0f);
  Value root = math::SqrtOp::create(builder, loc, operands[0]);
  return arith::DivFOp::create(builder, loc, one, root);
}

} // namespace tenon
