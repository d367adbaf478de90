#include "codegen/cpu/CacheRows.h"
#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// The places of a row's key and queries; a row is a position.
static LogicalResult emitRingPlaces(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<RingPlacesOp>> kernel = context.read<RowKernelOf<RingPlacesOp>>();
  if (failed(kernel))
    return failure();
  RingPlacesOp op = kernel->op;
  VectorBuilder& b = context.builder;
  int64_t rows = op.getPositions().getType().getNumElements();
  auto kept = static_cast<int64_t>(op.getKept()), ring = static_cast<int64_t>(op.getRing());
  auto store = [&](Value place, Value index) {
    Value narrow = arith::TruncIOp::create(b, b.getI32Type(), place);
    for (Value destination : context.destinations(op.getResult()))
      b.store(narrow, b.advance(destination, b.mul(index, 4)));
  };
  return forTileRows(context, *kernel, tile, [&](Value row) {
    Value position = b.loadIndex(context.pointer(op.getPositions()), row);
    Value isActive = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position, b.i64(0));
    Value turning = b.add(b.rem(b.add(position, -kept), ring), kept);
    Value isTurning = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position, b.i64(kept));
    Value own = b.select(isTurning, turning, position);
    store(own, row);
    if (op.getViews() == 1)
      return;
    store(b.select(isActive, b.add(own, ring), position), b.add(row, rows));
    Value last = b.i64(kept + static_cast<int64_t>(op.getWindow()) - 1);
    store(b.min(position, last), b.add(row, 2 * rows));
  });
}

extern constexpr Emitter ringPlaces = {"ring_places", emitRingPlaces};

} // namespace tenon::codegen::cpu::emitters
