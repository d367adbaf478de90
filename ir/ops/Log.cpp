#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double LogOp::evaluateElement(llvm::ArrayRef<double> x) { return std::log(x[0]); }

Value LogOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::LogOp::create(builder, loc, operands[0]);
}

} // namespace tenon
