#include "codegen/cuda/emitters/Indexed.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Each element looks through the indices along its axis for its own place, in their order, so that
/// the result depends on no order of blocks.
static LogicalResult emitScatter(KernelContext& context) {
  auto kernel = context.read<IndexedKernel<ScatterOp>>();
  if (failed(kernel))
    return failure();
  FailureOr<CodeWriter*> begun = beginIndexed(context, *kernel);
  if (failed(begun))
    return failure();
  CodeWriter& code = **begun;
  ScatterOp op = kernel->op;
  llvm::ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t extent = shape[op.getAxis()];
  int64_t count = op.getIndices().getType().getShape()[op.getAxis()];
  int64_t inner = ShapedType::getNumElements(shape.drop_front(op.getAxis() + 1));
  code.format("const int place = static_cast<int>(index / %d %% %d);", inner, extent);
  code.format("const long long first = index / %d * %d + index %% %d;", extent * inner,
              count * inner, inner);
  bool isInteger = op.getType().getElementType().isInteger();
  const char* widen = isInteger ? "toInteger" : "toFloat";
  code.format("%s value = %s(%s[index]);", isInteger ? "Int64" : "float", widen,
              context.pointer(op.getInput()));
  code.openFormat("for (int i = 0; i < %d; ++i)", count);
  code.format("if (%s[first + i * %dll] == place)", context.pointer(op.getIndices()), inner);
  std::string update =
      absl::StrFormat("%s(%s[first + i * %dll])", widen, context.pointer(op.getUpdates()), inner);
  if (op.getAccumulate())
    update = isInteger ? "wrappedSum(value, " + update + ")" : "value + " + update;
  code.format("  value = %s;", update);
  code.close();
  std::string type = deviceType(op.getType().getElementType());
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[index] = %s<%s>(value);", pointer, isInteger ? "fromInteger" : "fromFloat",
                type);
  code.close();
  return success();
}

extern constexpr Emitter scatter = {"scatter", emitScatter};

} // namespace tenon::codegen::cuda::emitters
