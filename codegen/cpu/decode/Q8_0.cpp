#include "codegen/cpu/decode/WeightDecoder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q8_0`: an f16 scale, then 32 i8. Scale times quant is exact in f32 (11 + 8 bits).
static Value decodeQ8(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t scaleBytes = 2;
  Value scale = b.splatF16(block, count);
  Value quants =
      b.load(VectorType::get({count}, b.getI8Type()), b.advance(block, scaleBytes + first));
  Value wide = arith::ExtSIOp::create(b, VectorType::get({count}, b.getI32Type()), quants);
  return b.fmul(arith::SIToFPOp::create(b, b.f32s(count), wide), scale);
}

extern constexpr WeightDecoder q8_0 = {"q8_0", decodeQ8};

} // namespace tenon::codegen::cpu::decoders
