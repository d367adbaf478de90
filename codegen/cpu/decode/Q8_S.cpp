#include "codegen/cpu/decode/Quants.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// Activations, see `ir/encoding/Q8_S.cpp`: an f32 scale that is an f16 number, a sum, 32 i8.
/// Exact.
static Value decodeQ8S(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 8;
  Value quants = loadSignedBytes(b, b.advance(block, quantsAt + first), count);
  return b.fmul(toFloats(b, quants), b.splat(b.load(b.getF32Type(), block), count));
}

extern constexpr WeightDecoder q8_s = {"q8_s", decodeQ8S};

} // namespace tenon::codegen::cpu::decoders
