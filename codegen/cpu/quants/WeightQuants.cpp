#include "codegen/cpu/quants/WeightQuants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu {

const WeightQuants* findWeightQuants(Type elementType) {
  const Encoding* encoding = getEncoding(elementType);
  for (const WeightQuants* quants : allWeightQuants())
    if (encoding && std::string_view(quants->encoding) == encoding->name)
      return quants;
  return nullptr;
}

static Value byteSplat(VectorBuilder& b, Value like, int64_t value) {
  auto type = llvm::cast<VectorType>(like.getType());
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, SplatElementsAttr::get(type, element));
}

Value loadBytes(VectorBuilder& b, Value pointer, int64_t count) {
  return b.load(VectorType::get({count}, b.getI8Type()), pointer);
}

Value bitsOfBytes(VectorBuilder& b, Value bytes, int64_t shift, int64_t bits) {
  if (shift > 0)
    bytes = arith::ShRUIOp::create(b, bytes, byteSplat(b, bytes, shift));
  return shift + bits == 8
             ? bytes
             : Value(arith::AndIOp::create(b, bytes, byteSplat(b, bytes, (1 << bits) - 1)));
}

Value joinBytes(VectorBuilder& b, Value low, Value high, int64_t shift) {
  Value shifted = arith::ShLIOp::create(b, high, byteSplat(b, high, shift));
  return arith::OrIOp::create(b, low, shifted);
}

} // namespace tenon::codegen::cpu
