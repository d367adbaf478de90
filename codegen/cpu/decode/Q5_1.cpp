#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/Q5.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q5_1`, see `ir/encoding/Q5_1.cpp`: scale · quant + minimum, rounded once.
static Value decodeQ51(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t minimumAt = 2, quantsAt = 4, run = 16;
  if (count > run)
    return b.concat(decodeQ51(b, block, 0, run), decodeQ51(b, block, run, run));
  Value quants = decodeFiveBits(b, b.advance(block, quantsAt), first, count);
  return b.fma(quants, b.splatF16(block, count), b.splatF16(b.advance(block, minimumAt), count));
}

const WeightDecoder q5_1 = {"q5_1", decodeQ51};

} // namespace tenon::codegen::cpu::decoders
