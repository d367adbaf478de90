#include "codegen/cpu/emitters/Selection.h"

#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace tenon::codegen::cpu {

namespace {

constexpr int32_t noKey = std::numeric_limits<int32_t>::min();

Value splatInteger(VectorBuilder& b, int32_t value, int64_t lanes) {
  return b.splat(b.i32(value), lanes);
}

Value compare(VectorBuilder& b, CmpIPredicate predicate, Value a, Value other) {
  return arith::CmpIOp::create(b, predicate, a, other);
}

/// Integers in the order of the floats (Knuth's trick of flipping the magnitude of negatives):
/// bits ≥ 0 ? bits : bits ^ 0x7fffffff. −0 becomes +0 first.
Value orderedKeys(VectorBuilder& b, Value floats, int64_t lanes, int32_t nanKey) {
  auto integers = VectorType::get({lanes}, b.getI32Type());
  Value positiveZero = b.fadd(floats, b.splat(0.0f, lanes));
  Value bits = arith::BitcastOp::create(b, integers, positiveZero);
  Value sign = arith::ShRSIOp::create(b, bits, splatInteger(b, 31, lanes));
  Value flip = arith::AndIOp::create(b, sign, splatInteger(b, 0x7fffffff, lanes));
  Value keys = arith::XOrIOp::create(b, bits, flip);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, floats, floats);
  return b.select(isNan, splatInteger(b, nanKey, lanes), keys);
}

/// True where (key, index) is preferred to (otherKey, otherIndex).
Value isPreferred(VectorBuilder& b, Value key, Value index, Value otherKey, Value otherIndex) {
  Value greater = compare(b, CmpIPredicate::sgt, key, otherKey);
  Value earlier = arith::AndIOp::create(b, compare(b, CmpIPredicate::eq, key, otherKey),
                                        compare(b, CmpIPredicate::slt, index, otherIndex));
  return arith::OrIOp::create(b, greater, earlier);
}

/// The preferred lane, found by halving.
Selected combine(VectorBuilder& b, Value keys, Value indices, int64_t lanes) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    Value lowKeys = b.slice(keys, 0, half), highKeys = b.slice(keys, half, half);
    Value low = b.slice(indices, 0, half), high = b.slice(indices, half, half);
    Value takeHigh = isPreferred(b, highKeys, high, lowKeys, low);
    keys = b.select(takeHigh, highKeys, lowKeys);
    indices = b.select(takeHigh, high, low);
  }
  return {b.lane(keys, 0), b.lane(indices, 0)};
}

} // namespace

Selected selectBest(VectorBuilder& b, const RowView& row, int64_t lanes, int32_t nanKey,
                    std::optional<Selected> after) {
  auto integers = VectorType::get({lanes}, b.getI32Type());
  llvm::SmallVector<int32_t> counting(lanes);
  std::iota(counting.begin(), counting.end(), 0);
  Value lane =
      arith::ConstantOp::create(b, DenseElementsAttr::get(integers, llvm::ArrayRef(counting)));
  llvm::SmallVector<Value> best = {splatInteger(b, noKey, lanes), splatInteger(b, 0, lanes)};
  best = b.forVectors(row.length(), lanes, best, [&](Value first, int64_t count, ValueRange state) {
    Value keys = orderedKeys(b, row.load(b, first, count, lanes), lanes, nanKey);
    Value start = arith::TruncIOp::create(b, b.getI32Type(), first);
    Value indices = b.add(b.splat(start, lanes), lane);
    if (after) {
      Value isAfter =
          isPreferred(b, b.splat(after->key, lanes), b.splat(after->index, lanes), keys, indices);
      keys = b.select(isAfter, keys, splatInteger(b, noKey, lanes));
    }
    keys = b.keepTail(keys, splatInteger(b, noKey, lanes), count);
    // Indices ascend along a lane: the first of equal keys stays.
    Value isGreater = compare(b, CmpIPredicate::sgt, keys, state[0]);
    return llvm::SmallVector<Value>{b.select(isGreater, keys, state[0]),
                                    b.select(isGreater, indices, state[1])};
  });
  return combine(b, best[0], best[1], lanes);
}

void storeIndex(KernelContext& context, Value result, Value element, Value index) {
  VectorBuilder& b = context.builder;
  Value wide = arith::ExtSIOp::create(b, b.getI64Type(), index);
  for (Value destination : context.destinations(result)) {
    RowView view(result.getType(), destination);
    b.storeFloat(wide, view.element(), view.at(b, element));
  }
}

} // namespace tenon::codegen::cpu
