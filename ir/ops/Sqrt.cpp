#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double SqrtOp::evaluateElement(llvm::ArrayRef<double> x) { return std::sqrt(x[0]); }

Value SqrtOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::SqrtOp::create(builder, loc, operands[0]);
}

} // namespace tenon
