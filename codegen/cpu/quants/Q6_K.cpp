#include "codegen/cpu/quants/WeightQuants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::quants {

/// Each half of 128 elements: 64 bytes of lower bits, 32 of upper ones, as in
/// `ir/encoding/Q6_K.cpp`.
static void unpackQuants(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t highAt = 128, run = 32, runs = 4, halves = 2;
  for (int64_t half = 0; half < halves; ++half) {
    Value high = loadBytes(b, b.advance(block, highAt + half * run), run);
    for (int64_t i = 0; i < runs; ++i) {
      Value low = loadBytes(b, b.advance(block, (2 * half + i % 2) * run), run);
      Value quants =
          joinBytes(b, bitsOfBytes(b, low, i / 2 * 4, 4), bitsOfBytes(b, high, 2 * i, 2), 4);
      b.store(quants, b.advance(target, (half * runs + i) * run));
    }
  }
}

static void unpackScales(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t scalesAt = 192, scaleAt = 208, groups = 16, factors = 4;
  Value bytes = loadBytes(b, b.advance(block, scalesAt), groups);
  auto extend = [&](Type type) {
    return arith::ExtSIOp::create(b, VectorType::get({groups}, type), bytes);
  };
  b.store(extend(b.getI32Type()), target);
  b.store(extend(b.getI16Type()), b.advance(target, 4 * groups));
  Value scale = b.load(b.getI16Type(), b.advance(block, scaleAt));
  b.store(b.splat(arith::ExtUIOp::create(b, b.getI32Type(), scale), factors),
          b.advance(target, 6 * groups));
}

extern constexpr WeightQuants q6_k = {.encoding = "q6_k",
                                      .largest = 63,
                                      .zeroPoint = 32,
                                      .groupSize = 16,
                                      .unpackQuants = unpackQuants,
                                      .unpackScales = unpackScales};

} // namespace tenon::codegen::cpu::quants
