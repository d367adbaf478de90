#include "codegen/cpu/CacheRows.h"

#include "codegen/cpu/decode/Quants.h"
#include "ir/encoding/CacheEncoding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

Value emitHolds(VectorBuilder& b, const KvCache& cache, Value sequence, Value position) {
  Value holds = cache.isRing()
                    ? arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position, b.i64(0))
                    : b.isBelow(position, cache.capacity);
  return arith::AndIOp::create(b, b.isBelow(sequence, cache.sequences), holds);
}

Value emitPlace(VectorBuilder& b, const KvCache& cache, Value position) {
  switch (cache.layout) {
  case StateLayout::Dense:
  case StateLayout::Paged:
    return position;
  case StateLayout::Ring: {
    Value turning = b.add(b.rem(b.add(position, -cache.kept), cache.ring()), cache.kept);
    return b.select(b.isBelow(position, cache.kept), position, turning);
  }
  }
  llvm_unreachable("all layouts are handled");
}

/// Which of all places of the cache that is.
static Value emitCacheIndex(VectorBuilder& b, const KvCache& cache, Value sequence, Value place) {
  return b.add(b.mul(sequence, cache.capacity), place);
}

Value emitCacheRow(VectorBuilder& b, const KvCache& cache, Value base, Value sequence,
                   Value place) {
  int64_t rowBytes = cache.heads * cache.headBytes();
  return b.advance(base, b.mul(emitCacheIndex(b, cache, sequence, place), rowBytes));
}

/// What the block table has for a place: the number of a page, or anything.
static Value emitPage(VectorBuilder& b, const KvCache& cache, Value blockTable, Value sequence,
                      Value place) {
  return b.loadIndex(blockTable, b.add(b.mul(sequence, cache.blocks()), b.div(place, cache.page)));
}

Value emitHasPage(VectorBuilder& b, const KvCache& cache, Value blockTable, Value sequence,
                  Value place) {
  return b.isBelow(emitPage(b, cache, blockTable, sequence, place), cache.pages);
}

Value emitCacheHead(VectorBuilder& b, const KvCache& cache, CacheAddress address, Value sequence,
                    Value place, Value head) {
  Value row;
  if (cache.isPaged()) {
    Value page = emitPage(b, cache, address.blockTable, sequence, place);
    page = b.select(b.isBelow(page, cache.pages), page, b.i64(cache.pages - 1));
    row = b.add(b.mul(b.add(b.mul(page, cache.heads), head), cache.page), b.rem(place, cache.page));
  } else {
    row = b.add(b.mul(emitCacheIndex(b, cache, sequence, place), cache.heads), head);
  }
  return b.advance(address.base, b.mul(row, cache.headBytes()));
}

//===-- Quants ------------------------------------------------------------------------------===//

constexpr int64_t scaleBytes = 4;
/// Elements that divide every head, taken at once where it is encoded.
constexpr int64_t step = 8;

static CacheQuants quantsOf(const KvCache& cache) {
  return *cacheQuantsOf(*getEncoding(cache.elementType));
}

static Value splatBits(VectorBuilder& b, int32_t bits) {
  return integers(b, llvm::SmallVector<int32_t>(step, bits));
}

/// `count` quants of 4 bits, two in a byte from `bytes` on.
static Value loadHalfBytes(VectorBuilder& b, Value bytes, int64_t count) {
  llvm::SmallVector<int64_t> places;
  llvm::SmallVector<int32_t> shifts;
  for (int64_t i = 0; i < count; ++i) {
    places.push_back(i / 2);
    shifts.push_back(static_cast<int32_t>(i % 2 * 4));
  }
  Value pairs = loadUnsignedBytes(b, bytes, count / 2);
  Value spread = vector::ShuffleOp::create(b, pairs, pairs, places);
  return extractBits(b, arith::ShRUIOp::create(b, spread, integers(b, shifts)), 0, 4);
}

Value loadCacheFloats(VectorBuilder& b, const KvCache& cache, Value head, Value first,
                      int64_t count, int64_t lanes) {
  if (!cache.isQuantized())
    return b.loadFloats(cache.elementType,
                        b.advance(head, b.mul(first, elementBytes(cache.elementType))), count,
                        lanes);
  if (quantsOf(cache) == CacheQuants::Int4) {
    Value quants = loadHalfBytes(b, b.advance(head, b.add(b.div(first, 2), scaleBytes)), count);
    return b.pad(b.fsub(toFloats(b, quants), b.splat(8.0f, count)), lanes);
  }
  Value quants = b.advance(head, b.add(first, scaleBytes));
  if (quantsOf(cache) == CacheQuants::Int8)
    return b.pad(toFloats(b, loadSignedBytes(b, quants, count)), lanes);
  // The seven bits of a number in the place of a binary16's upper ones: 1/256 of it.
  Value bytes = loadUnsignedBytes(b, quants, count);
  Value zeros = integers(b, llvm::SmallVector<int32_t>(count, 0));
  Value bits = joinBits(b, joinBits(b, zeros, extractBits(b, bytes, 0, 7), 7),
                        extractBits(b, bytes, 7, 1), 15);
  Value halves = arith::TruncIOp::create(b, VectorType::get({count}, b.getI16Type()), bits);
  halves = arith::BitcastOp::create(b, VectorType::get({count}, b.getF16Type()), halves);
  return b.pad(b.widen(halves, b.getF16Type()), lanes);
}

Value loadCacheScale(VectorBuilder& b, const KvCache& cache, Value head) {
  if (!cache.isQuantized())
    return {};
  constexpr float unitOfE4M3 = 256;
  Value scale = b.loadFloat(b.getF32Type(), head);
  return quantsOf(cache) == CacheQuants::E4M3 ? b.fmul(scale, b.splat(unitOfE4M3, 0)) : scale;
}

/// The nearest integers within `least` and `most`, ties to even; `least` for NaN.
static Value roundWithin(VectorBuilder& b, Value values, float least, float most) {
  constexpr float shift = 0x1.8p23f; // a sum with it has no digits after the point
  values = b.fmin(b.fmax(values, b.splat(least, step)), b.splat(most, step));
  values = b.fsub(b.fadd(values, b.splat(shift, step)), b.splat(shift, step));
  return arith::FPToSIOp::create(b, VectorType::get({step}, b.getI32Type()), values);
}

/// The nearest E4M3 numbers within ±448 as bytes, ties to even; 448 for NaN. As f32ToE4M3 of
/// ir/encoding/internal/Float8.h.
static Value roundToE4M3(VectorBuilder& b, Value values) {
  constexpr float most = 448, smaller = 0x1p-120f;
  auto bitsType = VectorType::get({step}, b.getI32Type());
  Value sign = extractBits(b, arith::BitcastOp::create(b, bitsType, values), 31, 1);
  Value magnitude = b.fmin(math::AbsFOp::create(b, values), b.splat(most, step));
  Value bits = arith::BitcastOp::create(b, bitsType, b.fmul(magnitude, b.splat(smaller, step)));
  Value half = arith::AddIOp::create(b, extractBits(b, bits, 20, 1), splatBits(b, 0x7FFFF));
  return joinBits(b, extractBits(b, arith::AddIOp::create(b, bits, half), 20, 7), sign, 7);
}

/// The scale, not yet rounded, of a head whose largest element is `most` and whose largest negated
/// one `mostNegated`, both 0 or more.
static Value exactScale(VectorBuilder& b, CacheQuants quants, Value most, Value mostNegated) {
  Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, most, mostNegated);
  if (quants == CacheQuants::Int4)
    return b.fdiv(b.select(isPositive, b.fsub(b.splat(0.0f, 0), most), mostNegated),
                  b.splat(8.0f, 0));
  return b.fdiv(b.select(isPositive, most, mostNegated),
                b.splat(quants == CacheQuants::Int8 ? 127.0f : 448.0f, 0));
}

/// Stores `step` quants of `values` from element `first` of the head on.
static void storeQuants(VectorBuilder& b, CacheQuants quants, Value values, Value first,
                        Value head) {
  if (quants == CacheQuants::Int4) {
    Value numbers = arith::AddIOp::create(b, roundWithin(b, values, -8, 7), splatBits(b, 8));
    Value even = vector::ShuffleOp::create(b, numbers, numbers, {0, 2, 4, 6});
    Value odd = vector::ShuffleOp::create(b, numbers, numbers, {1, 3, 5, 7});
    b.store(arith::TruncIOp::create(b, VectorType::get({step / 2}, b.getI8Type()),
                                    joinBits(b, even, odd, 4)),
            b.advance(head, b.add(b.div(first, 2), scaleBytes)));
    return;
  }
  Value numbers =
      quants == CacheQuants::Int8 ? roundWithin(b, values, -127, 127) : roundToE4M3(b, values);
  b.store(arith::TruncIOp::create(b, VectorType::get({step}, b.getI8Type()), numbers),
          b.advance(head, b.add(first, scaleBytes)));
}

void storeQuantizedHead(VectorBuilder& b, const KvCache& cache, Type element, Value source,
                        Value head) {
  constexpr float leastScale = 0x1p-100f, mostScale = 0x1.fep127f;
  auto load = [&](Value first) {
    return b.loadFloats(element, b.advance(source, b.mul(first, elementBytes(element))), step,
                        step);
  };
  Value zeros = b.splat(0.0f, step), zero = b.splat(0.0f, 0);
  llvm::SmallVector<Value> most =
      b.loop(b.i64(0), b.i64(cache.size), step, ValueRange{zeros, zeros},
             [&](Value first, ValueRange state) {
               Value values = load(first);
               return llvm::SmallVector<Value>{b.fmax(values, state[0]),
                                               b.fmax(b.fsub(zeros, values), state[1])};
             });
  Value exact = exactScale(b, quantsOf(cache), b.greatestLane(most[0]), b.greatestLane(most[1]));
  Value rounded = b.roundTo(exact, b.getBF16Type());
  Value magnitude = math::AbsFOp::create(b, rounded);
  auto compare = [&](arith::CmpFPredicate predicate, float bound) {
    return arith::CmpFOp::create(b, predicate, magnitude, b.splat(bound, 0));
  };
  Value isUsable = arith::AndIOp::create(b, compare(arith::CmpFPredicate::OGE, leastScale),
                                         compare(arith::CmpFPredicate::OLE, mostScale));
  Value scale = b.select(isUsable, rounded, zero);
  Value inverse = b.select(isUsable, b.fdiv(b.splat(1.0f, 0), rounded), zero);
  b.store(scale, head);
  b.loop(b.i64(0), b.i64(cache.size), step, [&](Value first) {
    storeQuants(b, quantsOf(cache), b.fmul(load(first), b.splat(inverse, step)), first, head);
  });
}

} // namespace tenon::codegen::cpu
