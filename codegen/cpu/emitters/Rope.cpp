#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Rotates pairs of elements of every head of a row. The sines and cosines of a vector of
/// frequencies are computed once for all heads.
class RopeEmission {
public:
  RopeEmission(KernelContext& context, RopeOp op)
      : context(context), b(context.builder), op(op), input(context, op.getInput()),
        heads(input.type.getShape()[1]), headSize(input.length()),
        pairs(op.getInverseFrequencies().getType().getNumElements()), lanes(context.lanes) {}

  void emitRow(Value row);

private:
  Value angles(Value position, Value first, int64_t count);
  void rotateHalves(Value head, Value first, int64_t count, Value cosine, Value sine);
  void rotateAdjacent(Value head, Value first, int64_t count, Value cosine, Value sine);

  KernelContext& context;
  VectorBuilder& b;
  RopeOp op;
  RowView input; ///< rows are heads: [M · H, D]
  int64_t heads, headSize, pairs, lanes;
};

} // namespace

/// positions[m] · inverse_frequencies[i] rounded to f32; the product in f64 is exact enough for
/// that to round once.
Value RopeEmission::angles(Value position, Value first, int64_t count) {
  auto doubles = VectorType::get({lanes}, b.getF64Type());
  RowView frequencies(context, op.getInverseFrequencies());
  Value frequency = arith::ExtFOp::create(b, doubles, frequencies.load(b, first, count, lanes));
  Value place = b.splat(arith::SIToFPOp::create(b, b.getF64Type(), position), lanes);
  return arith::TruncFOp::create(b, b.f32s(lanes), arith::MulFOp::create(b, frequency, place));
}

void RopeEmission::rotateHalves(Value head, Value first, int64_t count, Value cosine, Value sine) {
  RowView x = input.from(b, head);
  Value second = b.add(first, pairs);
  Value low = x.load(b, first, count, lanes), high = x.load(b, second, count, lanes);
  Value newLow = b.fsub(b.fmul(low, cosine), b.fmul(high, sine));
  Value newHigh = b.fadd(b.fmul(low, sine), b.fmul(high, cosine));
  storeRow(context, op.getResult(), head, first, newLow, count);
  storeRow(context, op.getResult(), head, second, newHigh, count);
}

void RopeEmission::rotateAdjacent(Value head, Value first, int64_t count, Value cosine,
                                  Value sine) {
  Value start = b.mul(first, 2);
  Value both = input.from(b, head).load(b, start, 2 * count, 2 * lanes);
  auto parts = vector::DeinterleaveOp::create(b, both);
  Value even = parts.getRes1(), odd = parts.getRes2();
  Value newEven = b.fsub(b.fmul(even, cosine), b.fmul(odd, sine));
  Value newOdd = b.fadd(b.fmul(even, sine), b.fmul(odd, cosine));
  Value rotated = vector::InterleaveOp::create(b, newEven, newOdd);
  storeRow(context, op.getResult(), head, start, rotated, 2 * count);
}

void RopeEmission::emitRow(Value row) {
  Value position = b.loadIndex(context.pointer(op.getPositions()), row);
  Value firstHead = b.mul(row, heads), endHead = b.add(firstHead, heads);
  b.forVectors(pairs, lanes, [&](Value first, int64_t count) {
    Value angle = angles(position, first, count);
    Value magnitude = b.splat(op.getMagnitude().convertToDouble(), lanes);
    Value cosine = b.fmul(math::CosOp::create(b, angle), magnitude);
    Value sine = b.fmul(math::SinOp::create(b, angle), magnitude);
    b.loop(firstHead, endHead, 1, [&](Value head) {
      if (op.getPairing() == RopePairing::Halves)
        rotateHalves(head, first, count, cosine, sine);
      else
        rotateAdjacent(head, first, count, cosine, sine);
    });
  });
  if (2 * pairs == headSize)
    return;
  b.loop(firstHead, endHead, 1, [&](Value head) {
    RowView x = input.from(b, head);
    b.forVectors(headSize - 2 * pairs, lanes, [&](Value offset, int64_t count) {
      Value first = b.add(offset, 2 * pairs);
      storeRow(context, op.getResult(), head, first, x.load(b, first, count, lanes), count);
    });
  });
}

static LogicalResult emitRope(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<RopeOp>> kernel = context.read<RowKernelOf<RopeOp>>();
  if (failed(kernel))
    return failure();
  RopeOp op = kernel->op;
  RopeEmission emission(context, op);
  return forTileRows(context, *kernel, tile, [&](Value row) { emission.emitRow(row); });
}

extern constexpr Emitter rope = {"rope", emitRope};

} // namespace tenon::codegen::cpu::emitters
