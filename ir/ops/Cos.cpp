#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double CosOp::evaluateElement(llvm::ArrayRef<double> x) { return std::cos(x[0]); }

Value CosOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::CosOp::create(builder, loc, operands[0]);
}

} // namespace tenon
