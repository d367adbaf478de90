#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"

using namespace mlir;

namespace tenon {

double detail::evaluateSilu(double x) { return x / (1 + std::exp(-x)); }

Value detail::buildSilu(OpBuilder& builder, Location loc, Value x) {
  return buildLogisticQuotient(builder, loc, x, x);
}

double SiluOp::evaluateElement(llvm::ArrayRef<double> x) { return detail::evaluateSilu(x[0]); }

Value SiluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return detail::buildSilu(builder, loc, operands[0]);
}

} // namespace tenon
