#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double ErfOp::evaluateElement(llvm::ArrayRef<double> x) { return std::erf(x[0]); }

Value ErfOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::ErfOp::create(builder, loc, operands[0]);
}

} // namespace tenon
