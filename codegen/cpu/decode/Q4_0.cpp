#include "codegen/cpu/decode/Decoders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static Value splatInteger(VectorBuilder& b, VectorType type, int64_t value) {
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, SplatElementsAttr::get(type, element));
}

/// scale · (nibble − 8) for every nibble.
static Value decodedNibbles(VectorBuilder& b, Value scale) {
  llvm::SmallVector<float> values;
  for (int nibble = 0; nibble < 16; ++nibble)
    values.push_back(nibble - 8);
  auto table = DenseElementsAttr::get(b.f32s(16), llvm::ArrayRef<float>(values));
  return b.fmul(arith::ConstantOp::create(b, table), scale);
}

/// ggml's `block_q4_0`: an f16 scale, then 16 bytes whose low nibbles are elements 0 to 15 and
/// whose high nibbles are elements 16 to 31, each plus 8. Scale times quant is exact in f32, and so
/// is nibble · scale − 8 · scale as a fused multiply-add.
static Value decodeQ4(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t scaleBytes = 2, half = 16;
  if (count > half)
    return b.concat(decodeQ4(b, block, 0, half), decodeQ4(b, block, half, half));
  Value scale = b.splatF16(block, count);
  auto bytesType = VectorType::get({count}, b.getI8Type());
  Value bytes = b.load(bytesType, b.advance(block, scaleBytes + first % half));
  // Widened first: shifts of bytes have no instruction.
  auto wideType = VectorType::get({count}, b.getI32Type());
  Value nibbles = arith::ExtUIOp::create(b, wideType, bytes);
  if (first >= half)
    nibbles = arith::ShRUIOp::create(b, nibbles, splatInteger(b, wideType, 4));
  if (b.hasLookUp() && count == 16)
    return b.lookUp(decodedNibbles(b, scale), nibbles);
  if (first < half)
    nibbles = arith::AndIOp::create(b, nibbles, splatInteger(b, wideType, 15));
  Value offset = b.fmul(scale, b.splat(-8.0f, count));
  return b.fma(arith::SIToFPOp::create(b, b.f32s(count), nibbles), scale, offset);
}

const WeightDecoder q4_0 = {"q4_0", decodeQ4};

} // namespace tenon::codegen::cpu::decoders
