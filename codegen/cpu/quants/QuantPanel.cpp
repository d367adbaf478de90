#include "codegen/cpu/quants/QuantPanel.h"

#include "codegen/cpu/IntegerDot.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// Numbers of 32 bits in 128, the part of a vector that most shuffles stay in.
static constexpr int64_t quarter = 4;

int64_t QuantPanel::firstFactor(int64_t length) const {
  return quants.groupSize > 0 ? firstPair() + pairs : length / 4;
}

int64_t QuantPanel::numbers(int64_t length) const {
  int64_t factors = quants.groupSize > 0 ? quarter : length / encoding.blockSize;
  return llvm::alignTo(firstFactor(length) + factors, quarter);
}

void QuantPanel::unpack(Value source, Value record, int64_t length) {
  if (quants.groupSize > 0) {
    quants.unpackQuants(b, source, record);
    quants.unpackScales(b, source, b.advance(record, 4 * firstGroupScale()));
    return;
  }
  for (int64_t i = 0; i < length / encoding.blockSize; ++i) {
    Value block = b.advance(source, i * encoding.blockBytes);
    quants.unpackQuants(b, block, b.advance(record, i * encoding.blockSize));
    Value scale = arith::ExtUIOp::create(b, b.getI32Type(), b.load(b.getI16Type(), block));
    b.store(scale, b.advance(record, 4 * (firstFactor(length) + i)));
  }
}

/// In each 128 bits, the numbers of `a` and `b` that `picks` names: 0 to 3 of `a`, 4 to 7 of `b`.
static Value shuffleQuarters(VectorBuilder& builder, Value a, Value b,
                             llvm::ArrayRef<int64_t> picks) {
  int64_t lanes = builder.nativeLanes();
  llvm::SmallVector<int64_t> mask;
  for (int64_t start = 0; start < lanes; start += quarter)
    for (int64_t pick : picks)
      mask.push_back(start + pick % quarter + (pick < quarter ? 0 : lanes));
  return vector::ShuffleOp::create(builder, a, b, mask);
}

/// Numbers at `pointer` of records 0, 4, 8, … from `firstRecord` on, four of each.
static Value loadQuarters(VectorBuilder& b, Value pointer, int64_t recordBytes, int64_t firstRecord,
                          int64_t count) {
  if (count == 1)
    return b.load(VectorType::get({quarter}, b.getI32Type()),
                  b.advance(pointer, firstRecord * recordBytes));
  int64_t half = count / 2;
  return b.concat(loadQuarters(b, pointer, recordBytes, firstRecord, half),
                  loadQuarters(b, pointer, recordBytes, firstRecord + half * quarter, half));
}

/// Four numbers of every column at once: vector i holds four numbers of the columns i, i + 4, …; a
/// transposition within each 128 bits gives four vectors that hold one number of all columns.
void QuantPanel::transpose(Value records, Value panel, int64_t length) {
  int64_t lanes = b.nativeLanes(), vectorBytes = 4 * lanes;
  b.loop(b.i64(0), b.i64(numbers(length)), quarter, [&](Value number) {
    Value source = b.advance(records, b.mul(number, 4));
    Value target = b.advance(panel, b.mul(number, vectorBytes));
    llvm::SmallVector<Value, 4> loaded;
    for (int64_t i = 0; i < quarter; ++i)
      loaded.push_back(loadQuarters(b, source, recordBytes(length), i, lanes / quarter));
    Value low01 = shuffleQuarters(b, loaded[0], loaded[1], {0, 4, 1, 5});
    Value low23 = shuffleQuarters(b, loaded[2], loaded[3], {0, 4, 1, 5});
    Value high01 = shuffleQuarters(b, loaded[0], loaded[1], {2, 6, 3, 7});
    Value high23 = shuffleQuarters(b, loaded[2], loaded[3], {2, 6, 3, 7});
    const Value transposed[] = {shuffleQuarters(b, low01, low23, {0, 1, 4, 5}),
                                shuffleQuarters(b, low01, low23, {2, 3, 6, 7}),
                                shuffleQuarters(b, high01, high23, {0, 1, 4, 5}),
                                shuffleQuarters(b, high01, high23, {2, 3, 6, 7})};
    for (auto [index, vector] : llvm::enumerate(transposed))
      b.store(vector, b.advance(target, index * vectorBytes));
  });
  int64_t first = firstFactor(length);
  int64_t scales = quants.groupSize > 0 ? 1 : length / encoding.blockSize;
  for (int64_t i = 0; i < scales; ++i)
    widenFactor(panel, first + i, /*isNegated=*/false);
  if (quants.hasMinimums)
    widenFactor(panel, first + 1, /*isNegated=*/true);
}

/// f16 numbers in the lower halves of vector `index` become f32.
void QuantPanel::widenFactor(Value panel, int64_t index, bool isNegated) {
  int64_t lanes = b.nativeLanes();
  Value place = b.advance(panel, index * 4 * lanes);
  Value halves =
      arith::TruncIOp::create(b, VectorType::get({lanes}, b.getI16Type()), b.load(i32s(b), place));
  halves = arith::BitcastOp::create(b, VectorType::get({lanes}, b.getF16Type()), halves);
  Value wide = b.widen(halves, b.getF16Type());
  b.store(isNegated ? Value(arith::NegFOp::create(b, wide)) : wide, place);
}

Value QuantPanel::load(Value panel, Value index, Type element) {
  int64_t lanes = b.nativeLanes();
  return b.load(VectorType::get({lanes}, element), b.advance(panel, b.mul(index, 4 * lanes)));
}

} // namespace tenon::codegen::cpu
