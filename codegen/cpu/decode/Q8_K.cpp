#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// Activations, see `ir/encoding/Q8_K.cpp`: an f32 scale, then 256 i8; the product rounds once.
static Value decodeQ8K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 4;
  Value quants = loadSignedBytes(b, b.advance(block, quantsAt + first), count);
  return b.fmul(toFloats(b, quants), b.splat(b.load(b.getF32Type(), block), count));
}

extern constexpr WeightDecoder q8_k = {"q8_k", decodeQ8K};

} // namespace tenon::codegen::cpu::decoders
