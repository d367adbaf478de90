#include "codegen/cpu/decode/Quants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

static Value loadBytes(VectorBuilder& b, Value pointer, int64_t count) {
  return b.load(VectorType::get({count}, b.getI8Type()), pointer);
}

static Value splatInteger(VectorBuilder& b, Type type, int64_t value) {
  auto vector = llvm::cast<VectorType>(type);
  Attribute element = b.getIntegerAttr(vector.getElementType(), value);
  return arith::ConstantOp::create(b, SplatElementsAttr::get(vector, element));
}

Value loadUnsignedBytes(VectorBuilder& b, Value pointer, int64_t count) {
  return arith::ExtUIOp::create(b, VectorType::get({count}, b.getI32Type()),
                                loadBytes(b, pointer, count));
}

Value loadSignedBytes(VectorBuilder& b, Value pointer, int64_t count) {
  return arith::ExtSIOp::create(b, VectorType::get({count}, b.getI32Type()),
                                loadBytes(b, pointer, count));
}

Value extractBits(VectorBuilder& b, Value integers, int64_t shift, int64_t bits) {
  Type type = integers.getType();
  if (shift > 0)
    integers = arith::ShRUIOp::create(b, integers, splatInteger(b, type, shift));
  return arith::AndIOp::create(b, integers, splatInteger(b, type, (1 << bits) - 1));
}

Value joinBits(VectorBuilder& b, Value low, Value high, int64_t shift) {
  Value shifted = arith::ShLIOp::create(b, high, splatInteger(b, high.getType(), shift));
  return arith::OrIOp::create(b, low, shifted);
}

Value toFloats(VectorBuilder& b, Value integers) {
  int64_t count = llvm::cast<VectorType>(integers.getType()).getNumElements();
  return arith::SIToFPOp::create(b, b.f32s(count), integers);
}

Value integers(VectorBuilder& b, llvm::ArrayRef<int32_t> values) {
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, b.getI32Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
}

Value splatLane(VectorBuilder& b, Value vector, int64_t lane, int64_t count) {
  llvm::SmallVector<int64_t> mask(count, lane);
  return vector::ShuffleOp::create(b, vector, vector, mask);
}

Value PackedBits::load(VectorBuilder& b, Value pointer, int64_t first, int64_t count) const {
  int64_t perByte = 8 / bits;
  int64_t byte = first / (stride * perByte) * stride + first % stride;
  int64_t place = first / stride % perByte;
  return extractBits(b, loadUnsignedBytes(b, b.advance(pointer, byte), count), bits * place, bits);
}

static Value nibbleValues(VectorBuilder& b) {
  llvm::SmallVector<float> values;
  for (int nibble = 0; nibble < 16; ++nibble)
    values.push_back(nibble);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(b.f32s(16), llvm::ArrayRef<float>(values)));
}

Value decodeNibbles(VectorBuilder& b, Value nibbles, Value scale, Value offset) {
  if (b.hasLookUp() && llvm::cast<VectorType>(nibbles.getType()).getNumElements() == 16)
    return b.lookUp(b.fma(nibbleValues(b), scale, offset), nibbles);
  return b.fma(toFloats(b, nibbles), scale, offset);
}

} // namespace tenon::codegen::cpu
