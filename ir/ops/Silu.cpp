#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double SiluOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] / (1 + std::exp(-x[0])); }

Value SiluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value one = detail::buildSplat(builder, loc, operands[0].getType(), 1.0f);
  Value negated = arith::NegFOp::create(builder, loc, operands[0]);
  Value exponential = math::ExpOp::create(builder, loc, negated);
  Value denominator = arith::AddFOp::create(builder, loc, one, exponential);
  return arith::DivFOp::create(builder, loc, operands[0], denominator);
}

} // namespace tenon
