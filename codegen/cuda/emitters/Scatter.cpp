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
  code.format("float value = toFloat(%s[index]);", context.pointer(op.getInput()));
  code.openFormat("for (int i = 0; i < %d; ++i)", count);
  code.format("if (%s[first + i * %dll] == place)", context.pointer(op.getIndices()), inner);
  code.format("  value = %stoFloat(%s[first + i * %dll]);", op.getAccumulate() ? "value + " : "",
              context.pointer(op.getUpdates()), inner);
  code.close();
  std::string type = deviceType(op.getType().getElementType());
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[index] = fromFloat<%s>(value);", pointer, type);
  code.close();
  return success();
}

extern constexpr Emitter scatter = {"scatter", emitScatter};

} // namespace tenon::codegen::cuda::emitters
