#include "ir/Dialect.h"
#include "ir/ops/internal/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

static double evaluateActivation(Activation activation, double x) {
  switch (activation) {
  case Activation::Silu:
    return detail::evaluateSilu(x);
  case Activation::Gelu:
    return detail::evaluateGelu(x);
  case Activation::GeluTanh:
    return detail::evaluateGeluTanh(x);
  case Activation::Relu:
    return detail::evaluateRelu(x);
  case Activation::Sigmoid:
    return detail::evaluateSigmoid(x);
  }
  llvm_unreachable("every activation is listed");
}

static Value buildActivation(Activation activation, OpBuilder& builder, Location loc, Value x) {
  switch (activation) {
  case Activation::Silu:
    return detail::buildSilu(builder, loc, x);
  case Activation::Gelu:
    return detail::buildGelu(builder, loc, x);
  case Activation::GeluTanh:
    return detail::buildGeluTanh(builder, loc, x);
  case Activation::Relu:
    return detail::buildRelu(builder, loc, x);
  case Activation::Sigmoid:
    return detail::buildSigmoid(builder, loc, x);
  }
  llvm_unreachable("every activation is listed");
}

double GluOp::evaluateElement(llvm::ArrayRef<double> x) {
  return evaluateActivation(getActivation(), x[0]) * x[1];
}

Value GluOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value gate = buildActivation(getActivation(), builder, loc, operands[0]);
  return arith::MulFOp::create(builder, loc, gate, operands[1]);
}

} // namespace tenon
