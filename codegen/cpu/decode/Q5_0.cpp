#include <numeric>

#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/Q5.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu {

Value decodeFiveBits(VectorBuilder& b, Value pointer, int64_t first, int64_t count) {
  constexpr int64_t highBytes = 4, run = 16;
  Value low = PackedBits{4, run}.load(b, b.advance(pointer, highBytes), first, count);
  llvm::SmallVector<int32_t> places(count);
  std::iota(places.begin(), places.end(), static_cast<int32_t>(first));
  Value high = b.splat(b.load(b.getI32Type(), pointer), count);
  high = arith::ShRUIOp::create(b, high, integers(b, places));
  return toFloats(b, joinBits(b, low, extractBits(b, high, 0, 1), 4));
}

} // namespace tenon::codegen::cpu

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q5_0`, see `ir/encoding/Q5_0.cpp`: scale · (quant − 16), exact in f32.
static Value decodeQ50(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 2, run = 16;
  if (count > run)
    return b.concat(decodeQ50(b, block, 0, run), decodeQ50(b, block, run, run));
  Value quants = decodeFiveBits(b, b.advance(block, quantsAt), first, count);
  Value scale = b.splatF16(block, count);
  return b.fma(quants, scale, b.fmul(scale, b.splat(-16.0f, count)));
}

const WeightDecoder q5_0 = {"q5_0", decodeQ50};

} // namespace tenon::codegen::cpu::decoders
