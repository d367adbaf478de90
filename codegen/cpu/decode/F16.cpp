#include "codegen/cpu/decode/WeightDecoder.h"

namespace tenon::codegen::cpu::decoders {

static mlir::Value decodeF16(VectorBuilder& b, mlir::Value block, int64_t first, int64_t count) {
  mlir::Type element = b.getF16Type();
  return b.loadFloats(element, b.advance(block, first * elementBytes(element)), count, count);
}

extern constexpr WeightDecoder f16 = {"f16", decodeF16};

} // namespace tenon::codegen::cpu::decoders
