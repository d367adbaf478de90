#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Blocks of `q8_s` or `q8_k`, as `ir/encoding/Q8_S.cpp` and `Q8_K.cpp` define them, bit for bit.
/// Rows are whole blocks, so the tensor is one run of them.
class QuantizeEmission {
public:
  QuantizeEmission(KernelContext& context, QuantizeOp op)
      : b(context.builder), input(context, op.getInput()),
        encoding(*getEncoding(op.getType().getElementType())) {}

  void emitBlock(Value index, Value target);

private:
  struct Scales {
    Value scale, inverse;
  };
  Value loadPart(Value block, int64_t part);
  Value greatestMagnitude(Value block);
  Scales scalesFor(Value greatest);
  Value quantsOf(Value values, Value inverse);
  Value sumOf(Value quants);
  void emitSmallBlock(Value block, const Scales& scales, Value target);
  void emitSuperBlock(Value block, const Scales& scales, Value target);

  /// Elements that are taken at once, those that `q8_k` keeps a sum of.
  static constexpr int64_t width = 16;

  VectorBuilder& b;
  RowView input;
  const Encoding& encoding;
};

} // namespace

Value QuantizeEmission::loadPart(Value block, int64_t part) {
  return b.loadFloats(input.element(),
                      b.advance(block, part * width * elementBytes(input.element())), width, width);
}

/// max |x|, NaN left out.
Value QuantizeEmission::greatestMagnitude(Value block) {
  Value greatest = b.splat(0.0f, width);
  for (int64_t part = 0; part < encoding.blockSize / width; ++part)
    greatest = b.fmax(math::AbsFOp::create(b, loadPart(block, part)), greatest);
  return b.greatestLane(greatest);
}

QuantizeEmission::Scales QuantizeEmission::scalesFor(Value greatest) {
  Value zero = b.splat(0.0f, 0), one = b.splat(1.0f, 0), most = b.splat(127.0f, 0);
  auto isNotZero = [&](Value value) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
  };
  if (encoding.name == "q8_s") {
    Value exact = b.fdiv(greatest, most);
    return {b.roundTo(exact, b.getF16Type()), b.select(isNotZero(exact), b.fdiv(one, exact), zero)};
  }
  Value quotient = b.fdiv(most, greatest);
  Value isFinite =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, quotient, b.splat(0x1.fffffep127f, 0));
  Value inverse = b.select(isFinite, quotient, zero);
  return {b.select(isNotZero(inverse), b.fdiv(one, inverse), zero), inverse};
}

/// As i32: rounded, halves away from zero, to [−127, 127]; NaN gives −127.
Value QuantizeEmission::quantsOf(Value values, Value inverse) {
  Value scaled = b.fmul(values, b.splat(inverse, width));
  scaled = b.fmin(b.fmax(scaled, b.splat(-127.0f, width)), b.splat(127.0f, width));
  Value half = math::CopySignOp::create(b, b.splat(0x1.fffffep-2f, width), scaled);
  return arith::FPToSIOp::create(b, VectorType::get({width}, b.getI32Type()), b.fadd(scaled, half));
}

Value QuantizeEmission::sumOf(Value quants) {
  return vector::ReductionOp::create(b, vector::CombiningKind::ADD, quants);
}

void QuantizeEmission::emitSmallBlock(Value block, const Scales& scales, Value target) {
  constexpr int64_t sumAt = 4, quantsAt = 8;
  auto bytes = VectorType::get({width}, b.getI8Type());
  Value low = quantsOf(loadPart(block, 0), scales.inverse);
  Value high = quantsOf(loadPart(block, 1), scales.inverse);
  b.store(scales.scale, target);
  b.store(sumOf(b.add(low, high)), b.advance(target, sumAt));
  b.store(arith::TruncIOp::create(b, bytes, low), b.advance(target, quantsAt));
  b.store(arith::TruncIOp::create(b, bytes, high), b.advance(target, quantsAt + width));
}

void QuantizeEmission::emitSuperBlock(Value block, const Scales& scales, Value target) {
  constexpr int64_t quantsAt = 4, sumsAt = 260, sumBytes = 2;
  b.store(scales.scale, target);
  for (int64_t part = 0; part < encoding.blockSize / width; ++part) {
    Value quants = quantsOf(loadPart(block, part), scales.inverse);
    b.store(arith::TruncIOp::create(b, VectorType::get({width}, b.getI8Type()), quants),
            b.advance(target, quantsAt + part * width));
    b.store(arith::TruncIOp::create(b, b.getI16Type(), sumOf(quants)),
            b.advance(target, sumsAt + part * sumBytes));
  }
}

/// Block number `index`, written after `target`.
void QuantizeEmission::emitBlock(Value index, Value target) {
  int64_t blockBytes = encoding.blockSize * elementBytes(input.element());
  Value block = b.advance(input.base, b.mul(index, blockBytes));
  Scales scales = scalesFor(greatestMagnitude(block));
  Value place = b.advance(target, b.mul(index, encoding.blockBytes));
  encoding.name == "q8_s" ? emitSmallBlock(block, scales, place)
                          : emitSuperBlock(block, scales, place);
}

static LogicalResult emitQuantize(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<QuantizeOp>> kernel = context.read<RowKernelOf<QuantizeOp>>();
  if (failed(kernel))
    return failure();
  QuantizeOp op = kernel->op;
  QuantizeEmission emission(context, op);
  return forTileRows(context, *kernel, tile, [&](Value index) {
    for (Value destination : context.destinations(op.getResult()))
      emission.emitBlock(index, destination);
  });
}

extern constexpr Emitter quantize = {"quantize", emitQuantize};

} // namespace tenon::codegen::cpu::emitters
