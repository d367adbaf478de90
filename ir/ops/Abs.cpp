#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double AbsOp::evaluateElement(llvm::ArrayRef<double> x) { return std::fabs(x[0]); }

Value AbsOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::AbsFOp::create(builder, loc, operands[0]);
}

} // namespace tenon
