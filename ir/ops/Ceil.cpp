#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double CeilOp::evaluateElement(llvm::ArrayRef<double> x) { return std::ceil(x[0]); }

Value CeilOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::CeilOp::create(builder, loc, operands[0]);
}

} // namespace tenon
