#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double detail::evaluateRelu(double x) { return x > 0 || std::isnan(x) ? x : 0.0; }

Value detail::buildRelu(OpBuilder& builder, Location loc, Value x) {
  Value zero = buildSplat(builder, loc, x.getType(), 0.0f);
  return arith::MaximumFOp::create(builder, loc, x, zero);
}

double ReluOp::evaluateElement(llvm::ArrayRef<double> x) { return detail::evaluateRelu(x[0]); }

Value ReluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildRelu(builder, loc, operands[0]);
}

} // namespace tenon
