#include "codegen/cpu/quants/WeightQuants.h"

using namespace mlir;

namespace tenon::codegen::cpu::quants {

/// Elements 0 to 15 are the lower halves of the bytes after the scale, 16 to 31 the upper ones.
static void unpackQuants(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t quantsAt = 2, run = 16;
  Value bytes = loadBytes(b, b.advance(block, quantsAt), run);
  b.store(bitsOfBytes(b, bytes, 0, 4), target);
  b.store(bitsOfBytes(b, bytes, 4, 4), b.advance(target, run));
}

extern constexpr WeightQuants q4_0 = {
    .encoding = "q4_0", .largest = 15, .zeroPoint = 8, .unpackQuants = unpackQuants};

} // namespace tenon::codegen::cpu::quants
