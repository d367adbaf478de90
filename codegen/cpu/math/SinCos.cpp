#include "codegen/cpu/math/FloatMath.h"

#include <array>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

namespace {

/// x = k · π/2 + r.
struct Reduced {
  Value quadrant; ///< k mod 4, i32
  Value r;        ///< |r| ≤ π/4 and a little
};

/// From here on the reduction takes integers.
constexpr float leastLarge = 0x1p45f;

/// Cody and Waite's reduction in f64, with π/2 in three parts of 53 bits: exact to f32 for |x| up
/// to `leastLarge`; beyond that r is only kept in range.
Reduced reduceModerate(FloatMath& m, Value x) {
  Value wide = arith::ExtFOp::create(m.b, m.with(m.b.getF64Type()), x);
  Value k = math::RoundEvenOp::create(m.b, m.mul(wide, m.f64(0x1.45f306dc9c883p-1)));
  Value r = m.fma(k, m.f64(-0x1.921fb54442d18p0), wide);
  r = m.fma(k, m.f64(-0x1.1a62633145c07p-54), r);
  r = m.fma(k, m.f64(0x1.f1976b7ed8fbcp-110), r);
  r = m.atMost(m.atLeast(r, m.f64(-0.8)), m.f64(0.8));
  // k − 4 · ⌊k / 4⌋ is 0 to 3 for every finite k; infinity and NaN become NaN above, and 0 here.
  Value rest = m.fma(m.floor(m.mul(k, m.f64(0.25))), m.f64(-4.0), k);
  rest = m.select(m.isLess(rest, m.f64(3.5)), m.atLeast(rest, m.f64(0.0)), m.f64(0.0));
  Value quadrant = arith::FPToSIOp::create(m.b, m.with(m.b.getI32Type()), rest);
  return {quadrant, arith::TruncFOp::create(m.b, m.with(m.b.getF32Type()), r)};
}

/// Arithmetic on i64 in a shape, unsigned where it matters.
class Words {
public:
  explicit Words(FloatMath& m) : m(m), type(m.with(m.b.getI64Type())) {}

  Value constant(uint64_t value) { return m.i64(static_cast<int64_t>(value)); }
  Value extend(Value i32) { return arith::ExtUIOp::create(m.b, type, i32); }
  Value add(Value x, Value y) { return arith::AddIOp::create(m.b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(m.b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(m.b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(m.b, x, y); }
  Value low(Value x, uint64_t mask) { return arith::AndIOp::create(m.b, x, constant(mask)); }
  Value left(Value x, Value bits) { return arith::ShLIOp::create(m.b, x, bits); }
  Value right(Value x, Value bits) { return arith::ShRUIOp::create(m.b, x, bits); }
  Value left(Value x, uint64_t bits) { return left(x, constant(bits)); }
  Value right(Value x, uint64_t bits) { return right(x, constant(bits)); }
  Value isEqual(Value x, uint64_t y) {
    return arith::CmpIOp::create(m.b, arith::CmpIPredicate::eq, x, constant(y));
  }

private:
  FloatMath& m;
  Type type;
};

/// Words 0 to 4 of 32 bits, the highest first, of 2/π from the one on that is `skipped` − 2 of them
/// after the point: those that decide x · 2/π mod 4 for exponents from 32 · skipped on.
std::array<Value, 5> wordsOfTwoOverPi(FloatMath& m, Words& w, Value skipped) {
  constexpr uint64_t words[] = {0x0,        0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                0xf534ddc0, 0xdb629599, 0x3c439041};
  Value isOne = w.isEqual(skipped, 1), isTwo = w.isEqual(skipped, 2);
  std::array<Value, 5> chosen;
  for (size_t i = 0; i < chosen.size(); ++i) {
    Value later = m.select(isTwo, w.constant(words[i + 1]), w.constant(words[i + 2]));
    chosen[i] = m.select(isOne, w.constant(words[i]), later);
  }
  return chosen;
}

/// Payne and Hanek's reduction ("Radian reduction for trigonometric functions", SIGNUM Newsletter
/// 1983) for finite |x| from `leastLarge` on. |x| = M · 2^(e − 31), e = 32 · skipped + shift:
///
/// 1. the lowest 160 bits of M times the words of 2/π that count, `shift` bits further to the left:
///    two bits of the quadrant before 127 of the fraction;
/// 2. r = fraction · π/2, of the fraction the highest 64 bits, signed, its half rounding the
///    quadrant.
Reduced reduceLarge(FloatMath& m, Value x) {
  constexpr uint64_t mask = 0xffffffff;
  Words w(m);
  Value bits = w.extend(m.bits(m.abs(x)));
  Value exponent = w.sub(w.right(bits, 23), w.constant(127)), shift = w.low(exponent, 31);
  Value mantissa = w.low(w.either(w.left(bits, 8), w.constant(0x80000000)), mask);
  std::array<Value, 5> words = wordsOfTwoOverPi(m, w, w.right(exponent, 5));
  // Limbs of the product, the lowest last.
  std::array<Value, 5> limbs;
  Value carry = w.constant(0);
  for (size_t i = limbs.size(); i-- > 0;) {
    Value product = w.add(w.mul(mantissa, words[i]), carry);
    limbs[i] = w.low(product, mask);
    carry = w.right(product, 32);
  }
  Value high = w.either(w.left(limbs[0], 32), limbs[1]);
  Value middle = w.either(w.left(limbs[2], 32), limbs[3]), last = w.left(limbs[4], 32);
  auto shifted = [&](Value upper, Value lower) { // a shift by 64 has no value
    Value rest = w.right(w.right(lower, 1), w.sub(w.constant(63), shift));
    return w.either(w.left(upper, shift), rest);
  };
  high = shifted(high, middle), middle = shifted(middle, last);
  Value fraction = w.either(w.left(high, 33), w.right(middle, 31));
  Value quadrant = w.low(w.add(w.right(high, 31), w.right(fraction, 63)), 3);
  Value wide = arith::SIToFPOp::create(m.b, m.with(m.b.getF64Type()), fraction);
  Value r = m.mul(wide, m.f64(0x1.921fb54442d18p-64)); // π/2 · 2^-64
  Value narrow = arith::TruncIOp::create(m.b, m.with(m.b.getI32Type()), quadrant);
  Value isNegative = m.isLess(x, m.f32(0.0f));
  Value rounded = arith::TruncFOp::create(m.b, m.with(m.b.getF32Type()), r);
  return {m.select(isNegative, m.isub(m.i32(0), narrow), narrow),
          m.select(isNegative, m.negate(rounded), rounded)};
}

/// The reduction of every finite x; that of large ones runs where a lane has one.
Reduced reduce(FloatMath& m, Value x) {
  Reduced moderate = reduceModerate(m, x);
  Value magnitude = m.abs(x);
  Value isFinite = m.isLess(magnitude, m.f32(std::numeric_limits<float>::infinity()));
  Value isLarge = arith::AndIOp::create(
      m.b, arith::CmpFOp::create(m.b, arith::CmpFPredicate::OGE, magnitude, m.f32(leastLarge)),
      isFinite);
  Value anyLarge = isLarge;
  if (llvm::isa<VectorType>(isLarge.getType()))
    anyLarge = vector::ReductionOp::create(m.b, vector::CombiningKind::OR, isLarge);
  auto branch =
      scf::IfOp::create(m.b, TypeRange{moderate.quadrant.getType(), moderate.r.getType()}, anyLarge,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToEnd(branch.thenBlock());
  Reduced large = reduceLarge(m, x);
  scf::YieldOp::create(m.b, ValueRange{m.select(isLarge, large.quadrant, moderate.quadrant),
                                       m.select(isLarge, large.r, moderate.r)});
  m.b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(m.b, ValueRange{moderate.quadrant, moderate.r});
  return {branch.getResult(0), branch.getResult(1)};
}

/// sin(k · π/2 + r) within 1.5 ULP: ± sin r for even k, ± cos r for odd. Minimax polynomials
/// (Remez): r + r³ · P(r²), error 2^-37; 1 − r²/2 + r⁴ · Q(r²), error 2^-33.
Value sineOf(FloatMath& m, Value quadrant, Value r) {
  Value square = m.mul(r, r);
  Value p =
      m.polynomial(square, {-0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f32p-13f, 0x1.6cbecep-19f});
  Value sine = m.fma(m.mul(square, p), r, r);
  Value q = m.polynomial(square, {0x1.55554ap-5f, -0x1.6c0c22p-10f, 0x1.99e33ap-16f});
  Value cosine = m.add(m.fma(square, m.f32(-0.5f), m.mul(m.mul(square, square), q)), m.f32(1.0f));
  Value isEven = m.iequal(m.iand(quadrant, m.i32(1)), m.i32(0));
  Value isPositive = m.iequal(m.iand(quadrant, m.i32(2)), m.i32(0));
  Value chosen = m.select(isEven, sine, cosine);
  return m.select(isPositive, chosen, m.negate(chosen));
}

} // namespace

Value buildSin(FloatMath& m, Value x) {
  Reduced reduced = reduce(m, x);
  return sineOf(m, reduced.quadrant, reduced.r);
}

Value buildCos(FloatMath& m, Value x) {
  Reduced reduced = reduce(m, x);
  return sineOf(m, m.iadd(reduced.quadrant, m.i32(1)), reduced.r);
}

} // namespace tenon::codegen::cpu
