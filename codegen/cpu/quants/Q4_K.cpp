#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/quants/WeightQuants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::quants {

/// Four runs of 32 bytes: the lower halves are one group, the upper ones the next.
static void unpackQuants(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t quantsAt = 16, run = 32, runs = 4;
  for (int64_t i = 0; i < runs; ++i) {
    Value bytes = loadBytes(b, b.advance(block, quantsAt + i * run), run);
    b.store(bitsOfBytes(b, bytes, 0, 4), b.advance(target, 2 * i * run));
    b.store(bitsOfBytes(b, bytes, 4, 4), b.advance(target, (2 * i + 1) * run));
  }
}

/// A group of 32 has one minimum for both of its sixteens.
static void unpackScales(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t groups = 8, factors = 4;
  Value numbers = unpackSixBitScales(b, block);
  Value minimums = b.slice(numbers, groups, groups);
  b.store(b.slice(numbers, 0, groups), target);
  b.store(joinBits(b, minimums, minimums, 16), b.advance(target, 4 * groups));
  Value halves = b.load(VectorType::get({factors}, b.getI16Type()), block);
  b.store(arith::ExtUIOp::create(b, VectorType::get({factors}, b.getI32Type()), halves),
          b.advance(target, 8 * groups));
}

extern constexpr WeightQuants q4_k = {.encoding = "q4_k",
                                      .largest = 15,
                                      .zeroPoint = 0,
                                      .groupSize = 32,
                                      .hasMinimums = true,
                                      .unpackQuants = unpackQuants,
                                      .unpackScales = unpackScales};

} // namespace tenon::codegen::cpu::quants
