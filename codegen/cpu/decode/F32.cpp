#include "codegen/cpu/decode/WeightDecoder.h"

namespace tenon::codegen::cpu::decoders {

static mlir::Value decodeF32(VectorBuilder& b, mlir::Value block, int64_t first, int64_t count) {
  mlir::Type element = b.getF32Type();
  return b.loadFloats(element, b.advance(block, first * elementBytes(element)), count, count);
}

extern constexpr WeightDecoder f32 = {"f32", decodeF32};

} // namespace tenon::codegen::cpu::decoders
