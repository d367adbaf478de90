#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Moves.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// A thread finds the places of a position.
static LogicalResult emitRingPlaces(KernelContext& context) {
  FailureOr<RingPlacesKernel> kernel = context.read<RingPlacesKernel>();
  if (failed(kernel))
    return failure();
  RingPlacesOp op = kernel->op;
  int64_t rows = op.getPositions().getType().getNumElements();
  int64_t threads = context.structure.threads;
  if (failed(context.expectTiles((rows + threads - 1) / threads)))
    return failure();
  context.structure.headers = {"kv_cache.cuh"};
  CodeWriter& code = context.structure.begin(PhaseKind::Store, {context.access(op.getPositions())},
                                             context.results());
  code.format("const int row = static_cast<int>(tile) * %d + threadIdx.x;", threads);
  code.format("if (row >= %d)", rows);
  code.line("  return;");
  code.format("const int position = %s[row];", context.pointer(op.getPositions()));
  code.format("const int own = position < %d ? position : %d + (position - %d) %% %d;",
              op.getKept(), op.getKept(), op.getKept(), op.getRing());
  for (const std::string& pointer : context.destinations(op.getResult())) {
    code.format("%s[row] = own;", pointer);
    if (op.getViews() == 1)
      continue;
    code.format("%s[%d + row] = position < 0 ? position : own + %d;", pointer, rows, op.getRing());
    code.format("%s[%d + row] = min(position, %d);", pointer, 2 * rows,
                op.getKept() + op.getWindow() - 1);
  }
  return success();
}

extern constexpr Emitter ringPlaces = {RingPlacesKernel::name, emitRingPlaces};

} // namespace tenon::codegen::cuda::emitters
