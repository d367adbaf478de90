#include "codegen/cpu/decode/Decoders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

static Value splatInteger(VectorBuilder& b, VectorType type, int64_t value) {
  Attribute element = b.getIntegerAttr(type.getElementType(), value);
  return arith::ConstantOp::create(b, SplatElementsAttr::get(type, element));
}

/// ggml's `block_q4_0`: an f16 scale, then 16 bytes whose low nibbles are elements 0 to 15 and
/// whose high nibbles are elements 16 to 31, each plus 8. Scale times quant is exact in f32.
static Value decodeQ4(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t scaleBytes = 2, half = 16;
  if (count > half)
    return b.concat(decodeQ4(b, block, 0, half), decodeQ4(b, block, half, half));
  Value scale = b.loadFloat(b.getF16Type(), block);
  auto bytesType = VectorType::get({count}, b.getI8Type());
  Value bytes = b.load(bytesType, b.advance(block, scaleBytes + first % half));
  // Widened first: shifts of bytes have no instruction.
  auto wideType = VectorType::get({count}, b.getI32Type());
  Value wide = arith::ExtUIOp::create(b, wideType, bytes);
  Value nibbles = first < half
                      ? Value(arith::AndIOp::create(b, wide, splatInteger(b, wideType, 15)))
                      : Value(arith::ShRUIOp::create(b, wide, splatInteger(b, wideType, 4)));
  Value quants = arith::SubIOp::create(b, nibbles, splatInteger(b, wideType, 8));
  return b.fmul(arith::SIToFPOp::create(b, b.f32s(count), quants), b.splat(scale, count));
}

const WeightDecoder q4_0 = {"q4_0", decodeQ4};

} // namespace tenon::codegen::cpu::decoders
