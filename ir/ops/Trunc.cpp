#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double TruncOp::evaluateElement(llvm::ArrayRef<double> x) { return std::trunc(x[0]); }

Value TruncOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::TruncOp::create(builder, loc, operands[0]);
}

} // namespace tenon
