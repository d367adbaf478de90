#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Moves.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Which guesses were right: a lane compares a row with the one before it.
static LogicalResult emitAccept(KernelContext& context) {
  FailureOr<AcceptKernel> kernel = context.read<AcceptKernel>();
  if (failed(kernel) || failed(context.expectTiles(1)))
    return failure();
  AcceptOp op = kernel->op;
  int64_t rows = op.getRows(), next = op.getNextIds().getType().getNumElements();
  context.structure.headers = {"types.cuh"};
  std::vector<Access> reads;
  for (Value operand : op->getOperands())
    reads.push_back(context.access(operand));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, context.results());
  code.line("const int lane = threadIdx.x;");
  code.format("const bool exists = lane < %d;", rows);
  auto load = [&](const char* name, Value values, const char* other) {
    code.format("const int %s = exists ? %s[lane] : %s;", name, context.pointer(values), other);
  };
  load("chosen", op.getChosen(), "-1");
  load("id", op.getIds(), "-1");
  load("position", op.getPositions(), "-1");
  load("draft", op.getDrafts() ? op.getDrafts() : op.getChosen(), "-1");
  code.line("const int before = max(lane - 1, 0);");
  code.line("const int chosenBefore = __shfl_sync(0xFFFFFFFFu, chosen, before);");
  code.line("const int positionBefore = __shfl_sync(0xFFFFFFFFu, position, before);");
  code.line("const bool follows = position > 0 && position - 1 == positionBefore;");
  code.line("const bool isRight = lane == 0 ? position >= 0 : follows && id == chosenBefore;");
  code.line("const int accepted = __reduce_min_sync(0xFFFFFFFFu, exists && isRight ? 32 : lane);");
  code.line("const int last = max(accepted - 1, 0);");
  code.line("const int nextId = __shfl_sync(0xFFFFFFFFu, chosen, last);");
  code.line("const int nextDraft = __shfl_sync(0xFFFFFFFFu, draft, last);");
  code.line("const int lastPosition = __shfl_sync(0xFFFFFFFFu, position, last);");
  for (const std::string& pointer : context.destinations(op.getAccepted())) {
    code.line("if (exists)");
    code.format("  %s[lane] = lane < accepted ? chosen : %d;", pointer, AcceptOp::notAccepted);
  }
  for (const std::string& pointer : context.destinations(op.getNextIds())) {
    code.format("if (lane < %d)", next);
    code.format("  %s[lane] = accepted == 0 ? -1 : lane == 0 ? nextId : nextDraft;", pointer);
  }
  for (const std::string& pointer : context.destinations(op.getNextPositions())) {
    code.format("if (lane < %d)", next);
    code.format("  %s[lane] = accepted == 0 || lastPosition > 0x7FFFFFFE - lane ? -1 "
                ": lastPosition + 1 + lane;",
                pointer);
  }
  return success();
}

extern constexpr Emitter accept = {AcceptKernel::name, emitAccept};

} // namespace tenon::codegen::cuda::emitters
