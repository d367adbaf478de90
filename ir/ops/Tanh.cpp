#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double TanhOp::evaluateElement(llvm::ArrayRef<double> x) { return std::tanh(x[0]); }

Value TanhOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::TanhOp::create(builder, loc, operands[0]);
}

} // namespace tenon
