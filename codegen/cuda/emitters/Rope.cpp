#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "kernels/cuda/Moves.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// A thread rotates one pair of some heads of a row, whose sine and cosine it computes once, or
/// copies one of the elements after the rotated ones.
/// Parameters: `threads`; `heads_per_thread`, which divides the heads, where it is more than one.
static LogicalResult emitRope(KernelContext& context) {
  FailureOr<RopeKernel> kernel = context.read<RopeKernel>();
  if (failed(kernel))
    return failure();
  RopeOp op = kernel->op;
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape(); // [M, H, D]
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  int64_t perHead = shape[2] - pairs; // threads: pairs, then the elements that pass
  int64_t threads = context.structure.threads;
  int64_t heads = kernel->schedule.headsPerThread;
  if (shape[1] % heads != 0)
    return context.kernel.emitOpError("expects heads_per_thread to divide ")
           << shape[1] << " heads, but got " << heads;
  int64_t groups = shape[0] * shape[1] / heads;
  if (failed(context.expectTiles(llvm::divideCeil(groups * perHead, threads))))
    return failure();
  context.structure.headers = {"types.cuh"};
  std::string x = context.pointer(op.getInput());
  std::string type = deviceType(op.getType().getElementType());
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, context.results());
  code.format("const long long index = tile * %d + threadIdx.x;", threads);
  code.format("const long long group = index / %d;", perHead);
  code.format("const int part = static_cast<int>(index %% %d);", perHead);
  code.openFormat("if (group < %d)", groups);
  auto openHeads = [&] {
    code.unroll();
    code.openFormat("for (int next = 0; next < %d; ++next)", heads);
    code.format("const long long head = group * %d + next;", heads);
  };
  code.openFormat("if (part < %d)", pairs);
  printTurn(
      context, code, op,
      absl::StrFormat("%s[group / %d]", context.pointer(op.getPositions()), shape[1] / heads));
  openHeads();
  printPair(code, op, absl::StrFormat("head * %d + ", shape[2]));
  code.format("const float a = toFloat(%s[first]), b = toFloat(%s[second]);", x, x);
  for (const std::string& pointer : context.destinations(op.getResult())) {
    code.format("%s[first] = fromFloat<%s>(%s);", pointer, type, turnedFirst);
    code.format("%s[second] = fromFloat<%s>(%s);", pointer, type, turnedSecond);
  }
  code.close();
  code.close();
  code.open("else");
  openHeads();
  code.format("const long long other = head * %d + part + %d;", shape[2], pairs);
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[other] = fromFloat<%s>(toFloat(%s[other]));", pointer, type, x);
  code.close();
  code.close();
  code.close();
  return success();
}

extern constexpr Emitter rope = {RopeKernel::name, emitRope};

} // namespace tenon::codegen::cuda::emitters
