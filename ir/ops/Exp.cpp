#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double ExpOp::evaluateElement(llvm::ArrayRef<double> x) { return std::exp(x[0]); }

Value ExpOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::ExpOp::create(builder, loc, operands[0]);
}

} // namespace tenon
