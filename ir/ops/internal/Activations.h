#ifndef TENON_IR_OPS_INTERNAL_ACTIVATIONS_H
#define TENON_IR_OPS_INTERNAL_ACTIVATIONS_H

#include "mlir/IR/Builders.h"

/// The functions that `tenon.glu` shares with the unary operations of the same name: each is
/// defined in that operation's file.
namespace tenon::detail {

double evaluateSilu(double x);
double evaluateGelu(double x);
double evaluateGeluTanh(double x);
double evaluateRelu(double x);
double evaluateSigmoid(double x);

/// `x` is f32 or a vector of f32, and so is what they return.
mlir::Value buildSilu(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x);
mlir::Value buildGelu(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x);
mlir::Value buildGeluTanh(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x);
mlir::Value buildRelu(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x);
mlir::Value buildSigmoid(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x);

/// numerator / (1 + e⁻ˣ). Where e⁻ˣ overflows (x below −88.7 in f32) the quotient becomes a zero:
/// nothing turns into NaN, and what is lost lies below 1e-36.
mlir::Value buildLogisticQuotient(mlir::OpBuilder& builder, mlir::Location loc,
                                  mlir::Value numerator, mlir::Value x);

} // namespace tenon::detail

#endif // TENON_IR_OPS_INTERNAL_ACTIVATIONS_H
