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

Value PackedBits::loadLoose(VectorBuilder& b, Value pointer, int64_t first, int64_t count) const {
  int64_t perByte = 8 / bits, bytes = std::min(count, stride);
  Value run =
      loadBytes(b, b.advance(pointer, first / (stride * perByte) * stride + first % stride), bytes);
  llvm::SmallVector<int64_t> lanes;
  llvm::SmallVector<int32_t> shifts;
  for (int64_t i = first; i < first + count; ++i) {
    lanes.push_back((i - first) % stride);
    shifts.push_back(static_cast<int32_t>(bits * (i / stride % perByte)));
  }
  if (count > stride)
    run = vector::ShuffleOp::create(b, run, run, lanes);
  Value wide = arith::ExtUIOp::create(b, VectorType::get({count}, b.getI32Type()), run);
  return shifts.back() == 0 ? wide : arith::ShRUIOp::create(b, wide, integers(b, shifts));
}

Value PackedBits::load(VectorBuilder& b, Value pointer, int64_t first, int64_t count) const {
  return extractBits(b, loadLoose(b, pointer, first, count), 0, bits);
}

static Value floats(VectorBuilder& b, llvm::ArrayRef<float> values) {
  auto type = b.f32s(static_cast<int64_t>(values.size()));
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, values));
}

bool canLookUp(VectorBuilder& b, int64_t count) { return b.hasLookUp() && count == tableSize; }

Value makeTable(VectorBuilder& b, int64_t bits, llvm::function_ref<float(int64_t)> numberOf) {
  llvm::SmallVector<float> numbers;
  for (int64_t i = 0; i < tableSize; ++i)
    numbers.push_back(numberOf(i % (int64_t(1) << bits)));
  return floats(b, numbers);
}

Value decodeBits(VectorBuilder& b, int64_t bits, Value loose, Value scale, Value offset) {
  if (!canLookUp(b, llvm::cast<VectorType>(loose.getType()).getNumElements()))
    return b.fma(toFloats(b, extractBits(b, loose, 0, bits)), scale, offset);
  Value table = makeTable(b, bits, [](int64_t number) { return static_cast<float>(number); });
  return b.lookUp(b.fma(table, scale, offset), loose);
}

} // namespace tenon::codegen::cpu
