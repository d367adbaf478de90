#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double FloorOp::evaluateElement(llvm::ArrayRef<double> x) { return std::floor(x[0]); }

Value FloorOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::FloorOp::create(builder, loc, operands[0]);
}

} // namespace tenon
