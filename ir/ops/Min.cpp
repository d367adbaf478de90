#include <algorithm>
#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

/// IEEE 754-2019 `minimum`: NaN wins, −0 is smaller than +0.
double MinOp::evaluateElement(llvm::ArrayRef<double> x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return x[0] + x[1];
  if (x[0] == x[1])
    return std::signbit(x[0]) ? x[0] : x[1];
  return x[0] < x[1] ? x[0] : x[1];
}

int64_t MinOp::evaluateInteger(llvm::ArrayRef<int64_t> x) { return std::min(x[0], x[1]); }

Value MinOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  if (getType().getElementType().isInteger())
    return arith::MinSIOp::create(builder, loc, operands[0], operands[1]);
  return arith::MinimumFOp::create(builder, loc, operands[0], operands[1]);
}

} // namespace tenon
