#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

/// A thread rotates one pair of a head, or copies one of the elements behind the rotated ones.
/// Parameter: `threads`.
static LogicalResult emitRope(KernelContext& context) {
  auto op = context.soleOp<RopeOp>();
  if (!op || failed(context.readResources()))
    return failure();
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape(); // [M, H, D]
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  int64_t perHead = shape[2] - pairs; // threads: pairs, then the elements that pass
  int64_t threads = context.structure.threads;
  if (failed(context.expectTiles(llvm::divideCeil(shape[0] * shape[1] * perHead, threads))))
    return failure();
  context.structure.headers = {"types.cuh"};
  std::string x = context.pointer(op.getInput());
  std::string type = deviceType(op.getType().getElementType());
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, context.results());
  code.format("const long long index = tile * %d + threadIdx.x;", threads);
  code.format("const long long head = index / %d;", perHead);
  code.format("const int part = static_cast<int>(index %% %d);", perHead);
  code.openFormat("if (head < %d)", shape[0] * shape[1]);
  code.openFormat("if (part < %d)", pairs);
  printTurn(context, code, op,
            absl::StrFormat("%s[head / %d]", context.pointer(op.getPositions()), shape[1]));
  printPair(code, op, absl::StrFormat("head * %d + ", shape[2]));
  code.format("const float a = toFloat(%s[first]), b = toFloat(%s[second]);", x, x);
  for (const std::string& pointer : context.destinations(op.getResult())) {
    code.format("%s[first] = fromFloat<%s>(%s);", pointer, type, turnedFirst);
    code.format("%s[second] = fromFloat<%s>(%s);", pointer, type, turnedSecond);
  }
  code.close();
  code.open("else");
  code.format("const long long other = head * %d + part + %d;", shape[2], pairs);
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[other] = fromFloat<%s>(toFloat(%s[other]));", pointer, type, x);
  code.close();
  code.close();
  return success();
}

const Emitter rope = {"rope", emitRope};

} // namespace tenon::codegen::cuda::emitters
