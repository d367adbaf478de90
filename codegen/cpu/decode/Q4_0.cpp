#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q4_0`, see `ir/encoding/Q4_0.cpp`: scale · (nibble − 8). Exact in f32, also as the
/// fused multiply-add nibble · scale − 8 · scale. `Planes.h` would give the same bits; here the
/// scale is loaded before the quants, which is the code that was measured.
static Value decodeQ40(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 2, run = 16;
  if (count > run)
    return b.concat(decodeQ40(b, block, 0, run), decodeQ40(b, block, run, run));
  Value scale = b.splatF16(block, count);
  Value nibbles = PackedBits{4, run}.loadLoose(b, b.advance(block, quantsAt), first, count);
  return decodeBits(b, 4, nibbles, scale, b.fmul(scale, b.splat(-8.0f, count)));
}

extern constexpr WeightDecoder q4_0 = {"q4_0", decodeQ40};

} // namespace tenon::codegen::cpu::decoders
