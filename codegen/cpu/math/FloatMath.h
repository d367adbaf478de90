#ifndef TENON_CODEGEN_CPU_MATH_FLOATMATH_H
#define TENON_CODEGEN_CPU_MATH_FLOATMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/ArrayRef.h"

namespace tenon::codegen::cpu {

/// Arithmetic on values of one shape, scalars or vectors, with constants of that shape: what the
/// approximations of mathematical functions are written in.
class FloatMath {
public:
  FloatMath(mlir::OpBuilder& builder, mlir::Location location, mlir::Type shape)
      : b(location, builder), shape(shape) {}

  /// Constants in the shape, f32, f64, i32 and i64.
  mlir::Value f32(float value);
  mlir::Value f64(double value);
  mlir::Value i32(int32_t value);
  mlir::Value i64(int64_t value);
  /// The shape with another element type.
  mlir::Type with(mlir::Type element);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value negate(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value floor(mlir::Value x);
  /// coefficients[0] + coefficients[1] · x + … by Horner's rule with fused multiply-adds.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients);
  /// x, or `low` where x < low; NaN stays. And the other way round.
  mlir::Value atLeast(mlir::Value x, mlir::Value low);
  mlir::Value atMost(mlir::Value x, mlir::Value high);
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  mlir::Value isNan(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// |magnitude| with the sign of `sign`.
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);

  mlir::Value bits(mlir::Value x);     ///< f32 as i32
  mlir::Value fromBits(mlir::Value x); ///< i32 as f32
  mlir::Value toFloat(mlir::Value x);  ///< i32 to the nearest f32
  mlir::Value iadd(mlir::Value x, mlir::Value y);
  mlir::Value isub(mlir::Value x, mlir::Value y);
  mlir::Value iand(mlir::Value x, mlir::Value y);
  mlir::Value shiftLeft(mlir::Value x, int32_t bits);
  /// The arithmetic shift.
  mlir::Value shiftRight(mlir::Value x, int32_t bits);
  mlir::Value iequal(mlir::Value x, mlir::Value y);

  mlir::ImplicitLocOpBuilder b;

private:
  mlir::Type shape;
};

/// Each computes a function of f32 values, with the error in units in the last place (ULP) that
/// its file states.
mlir::Value buildExp(FloatMath& m, mlir::Value x);
mlir::Value buildExp2(FloatMath& m, mlir::Value x);
mlir::Value buildLog(FloatMath& m, mlir::Value x);
mlir::Value buildTanh(FloatMath& m, mlir::Value x);
mlir::Value buildErf(FloatMath& m, mlir::Value x);
mlir::Value buildSin(FloatMath& m, mlir::Value x);
mlir::Value buildCos(FloatMath& m, mlir::Value x);
mlir::Value buildPow(FloatMath& m, mlir::Value x, mlir::Value y);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_MATH_FLOATMATH_H
