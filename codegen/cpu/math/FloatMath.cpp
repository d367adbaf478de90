#include "codegen/cpu/math/FloatMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::codegen::cpu {

Type FloatMath::with(Type element) {
  if (auto vector = llvm::dyn_cast<VectorType>(shape))
    return vector.clone(element);
  return element;
}

static Value constant(ImplicitLocOpBuilder& b, Type type, TypedAttr element) {
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(b, element);
}

Value FloatMath::f32(float value) {
  return constant(b, with(b.getF32Type()), b.getF32FloatAttr(value));
}
Value FloatMath::f64(double value) {
  return constant(b, with(b.getF64Type()), b.getF64FloatAttr(value));
}
Value FloatMath::i32(int32_t value) {
  return constant(b, with(b.getI32Type()), b.getI32IntegerAttr(value));
}
Value FloatMath::i64(int64_t value) {
  return constant(b, with(b.getI64Type()), b.getI64IntegerAttr(value));
}

Value FloatMath::add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
Value FloatMath::sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
Value FloatMath::mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
Value FloatMath::div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
Value FloatMath::fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
Value FloatMath::negate(Value x) { return arith::NegFOp::create(b, x); }
Value FloatMath::abs(Value x) { return math::AbsFOp::create(b, x); }
Value FloatMath::floor(Value x) { return math::FloorOp::create(b, x); }

Value FloatMath::polynomial(Value x, llvm::ArrayRef<float> coefficients) {
  Value sum = f32(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, f32(coefficient));
  return sum;
}

Value FloatMath::isLess(Value x, Value y) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
}
Value FloatMath::isNan(Value x) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
}
Value FloatMath::atLeast(Value x, Value low) { return select(isLess(x, low), low, x); }
Value FloatMath::atMost(Value x, Value high) { return select(isLess(high, x), high, x); }
Value FloatMath::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}
Value FloatMath::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(b, magnitude, sign);
}

Value FloatMath::bits(Value x) { return arith::BitcastOp::create(b, with(b.getI32Type()), x); }
Value FloatMath::fromBits(Value x) { return arith::BitcastOp::create(b, with(b.getF32Type()), x); }
Value FloatMath::toFloat(Value x) { return arith::SIToFPOp::create(b, with(b.getF32Type()), x); }
Value FloatMath::iadd(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
Value FloatMath::isub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
Value FloatMath::iand(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
Value FloatMath::shiftLeft(Value x, int32_t bits) { return arith::ShLIOp::create(b, x, i32(bits)); }
Value FloatMath::shiftRight(Value x, int32_t bits) {
  return arith::ShRSIOp::create(b, x, i32(bits));
}
Value FloatMath::iequal(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

} // namespace tenon::codegen::cpu
