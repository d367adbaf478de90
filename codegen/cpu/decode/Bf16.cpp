#include "codegen/cpu/decode/WeightDecoder.h"

namespace tenon::codegen::cpu::decoders {

static mlir::Value decodeBF16(VectorBuilder& b, mlir::Value block, int64_t first, int64_t count) {
  mlir::Type element = b.getBF16Type();
  return b.loadFloats(element, b.advance(block, first * elementBytes(element)), count, count);
}

extern constexpr WeightDecoder bf16 = {"bf16", decodeBF16};

} // namespace tenon::codegen::cpu::decoders
