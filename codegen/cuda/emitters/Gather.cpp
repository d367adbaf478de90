#include "codegen/cuda/emitters/Indexed.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Elements along an axis by index; zero for an index outside it.
static LogicalResult emitGather(KernelContext& context) {
  auto kernel = context.read<IndexedKernel<GatherOp>>();
  if (failed(kernel))
    return failure();
  FailureOr<CodeWriter*> begun = beginIndexed(context, *kernel);
  if (failed(begun))
    return failure();
  CodeWriter& code = **begun;
  GatherOp op = kernel->op;
  llvm::ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t extent = op.getInput().getType().getShape()[op.getAxis()], count = shape[op.getAxis()];
  int64_t inner = ShapedType::getNumElements(shape.drop_front(op.getAxis() + 1));
  code.format("using Bits = Word<%d>::type;", elementBytes(op.getType().getElementType()));
  code.format("const %s at = %s[index];", deviceType(elementTypeOf(op.getIndices().getType())),
              context.pointer(op.getIndices()));
  code.line("Bits bits = {};");
  code.openFormat("if (at >= 0 && at < %d)", extent);
  code.format("const long long from = (index / %d * %d + at) * %d + index %% %d;", count * inner,
              extent, inner, inner);
  code.format("bits = *reinterpret_cast<const Bits*>(%s + from);", context.pointer(op.getInput()));
  code.close();
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("*reinterpret_cast<Bits*>(%s + index) = bits;", pointer);
  code.close();
  return success();
}

extern constexpr Emitter gather = {"gather", emitGather};

} // namespace tenon::codegen::cuda::emitters
