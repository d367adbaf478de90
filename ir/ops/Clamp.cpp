#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

/// A bound as the operation compares with it.
static float rounded(const llvm::APFloat& bound) {
  return static_cast<float>(bound.convertToDouble());
}

LogicalResult ClampOp::verify() {
  if (!(rounded(getLow()) <= rounded(getHigh())))
    return emitOpError("expects bounds in ascending order, but got ")
           << getLow().convertToDouble() << " and " << getHigh().convertToDouble();
  return success();
}

/// Zeros are in order, too: −0 is below +0.
static bool isBelow(double lhs, double rhs) {
  return lhs < rhs || (lhs == rhs && std::signbit(lhs) && !std::signbit(rhs));
}

double ClampOp::evaluateElement(llvm::ArrayRef<double> x) {
  double low = rounded(getLow()), high = rounded(getHigh());
  double raised = isBelow(x[0], low) ? low : x[0];
  return isBelow(high, raised) ? high : raised;
}

Value ClampOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Type type = operands[0].getType();
  Value low = detail::buildSplat(builder, loc, type, rounded(getLow()));
  Value high = detail::buildSplat(builder, loc, type, rounded(getHigh()));
  Value raised = arith::MaximumFOp::create(builder, loc, operands[0], low);
  return arith::MinimumFOp::create(builder, loc, raised, high);
}

} // namespace tenon
