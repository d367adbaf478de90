#include "codegen/cuda/emitters/Indexed.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// A thread adds the elements of its row one after the other.
static LogicalResult emitCumulativeSum(KernelContext& context) {
  auto kernel = context.read<IndexedKernel<CumulativeSumOp>>();
  if (failed(kernel))
    return failure();
  FailureOr<CodeWriter*> begun = beginIndexed(context, *kernel);
  if (failed(begun))
    return failure();
  CodeWriter& code = **begun;
  CumulativeSumOp op = kernel->op;
  int64_t length = op.getType().getShape().back();
  std::string type = deviceType(op.getType().getElementType());
  bool isInteger = op.getType().getElementType().isInteger();
  code.line(isInteger ? "Int64 sum = 0;" : "float sum = 0.0f;");
  code.openFormat("for (int i = 0; i < %d; ++i)", length);
  std::string next = absl::StrFormat("%s[index * %d + i]", context.pointer(op.getInput()), length);
  code.line(isInteger ? "sum = wrappedSum(sum, toInteger(" + next + "));"
                      : "sum += toFloat(" + next + ");");
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[index * %d + i] = %s<%s>(sum);", pointer, length,
                isInteger ? "fromInteger" : "fromFloat", type);
  code.close();
  code.close();
  return success();
}

extern constexpr Emitter cumulativeSum = {"cumulative_sum", emitCumulativeSum};

} // namespace tenon::codegen::cuda::emitters
