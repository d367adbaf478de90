#include <limits>

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Which guesses were right, row by row.
static LogicalResult emitAccept(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<AcceptOp>> kernel = context.read<RowKernelOf<AcceptOp>>();
  if (failed(kernel))
    return failure();
  AcceptOp op = kernel->op;
  VectorBuilder& b = context.builder;
  auto load = [&](Value values, int64_t row) {
    return b.loadIndex(context.pointer(values), b.i64(row));
  };
  auto store = [&](Value result, int64_t element, Value value) {
    Value narrow = arith::TruncIOp::create(b, b.getI32Type(), value);
    for (Value destination : context.destinations(result))
      b.store(narrow, b.advance(destination, 4 * element));
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpIOp::create(b, predicate, left, right);
  };
  auto both = [&](Value left, Value right) -> Value {
    return arith::AndIOp::create(b, left, right);
  };
  return forTileRows(context, *kernel, tile, [&](Value) {
    Value chosen = load(op.getChosen(), 0), position = load(op.getPositions(), 0);
    Value isRight = compare(arith::CmpIPredicate::sge, position, b.i64(0)), isAny = isRight;
    Value lastId = chosen, lastPosition = position;
    Value lastDraft = op.getDrafts() ? load(op.getDrafts(), 0) : chosen;
    store(op.getAccepted(), 0, b.select(isRight, chosen, b.i64(AcceptOp::notAccepted)));
    for (int64_t row = 1; row < op.getRows(); ++row) {
      Value before = position;
      isRight = both(isRight, compare(arith::CmpIPredicate::eq, load(op.getIds(), row), chosen));
      position = load(op.getPositions(), row), chosen = load(op.getChosen(), row);
      isRight = both(isRight, compare(arith::CmpIPredicate::eq, position, b.add(before, 1)));
      store(op.getAccepted(), row, b.select(isRight, chosen, b.i64(AcceptOp::notAccepted)));
      lastId = b.select(isRight, chosen, lastId);
      lastPosition = b.select(isRight, position, lastPosition);
      if (op.getDrafts())
        lastDraft = b.select(isRight, load(op.getDrafts(), row), lastDraft);
    }
    for (int64_t i = 0; i < op.getNextIds().getType().getNumElements(); ++i) {
      store(op.getNextIds(), i, b.select(isAny, i == 0 ? lastId : lastDraft, b.i64(-1)));
      Value next = b.add(lastPosition, i + 1);
      Value fits =
          compare(arith::CmpIPredicate::sle, next, b.i64(std::numeric_limits<int32_t>::max()));
      store(op.getNextPositions(), i, b.select(both(isAny, fits), next, b.i64(-1)));
    }
  });
}

extern constexpr Emitter accept = {"accept", emitAccept};

} // namespace tenon::codegen::cpu::emitters
