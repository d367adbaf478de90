#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/Quants.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q4_1`, see `ir/encoding/Q4_1.cpp`: scale · nibble + minimum, rounded once.
static Value decodeQ41(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t minimumAt = 2, quantsAt = 4, run = 16;
  if (count > run)
    return b.concat(decodeQ41(b, block, 0, run), decodeQ41(b, block, run, run));
  Value nibbles = PackedBits{4, run}.load(b, b.advance(block, quantsAt), first, count);
  return decodeNibbles(b, nibbles, b.splatF16(block, count),
                       b.splatF16(b.advance(block, minimumAt), count));
}

const WeightDecoder q4_1 = {"q4_1", decodeQ41};

} // namespace tenon::codegen::cpu::decoders
