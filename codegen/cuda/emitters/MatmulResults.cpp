#include "codegen/cuda/emitters/MatmulResults.h"

using namespace mlir;

namespace tenon::codegen::cuda {

MatmulOp findMatmul(KernelContext& context) {
  MatmulOp hero;
  for (Operation& op : context.kernel.getBlock().without_terminator()) {
    auto candidate = llvm::dyn_cast<MatmulOp>(op);
    if ((candidate && hero) || (!candidate && !isPrintable(&op) && !llvm::isa<ArgmaxOp>(op))) {
      op.emitOpError("expects a region of one tenon.matmul and operations on its elements");
      return nullptr;
    }
    if (candidate)
      hero = candidate;
  }
  if (!hero)
    context.kernel.emitOpError("expects a tenon.matmul in a kernel of the emitter ")
        << context.schedule().getEmitter();
  else if (hero.isQuantized())
    return hero.emitOpError("expects an input of floats, but got ") << hero.getInput().getType(),
           nullptr;
  else if (!llvm::isa<BlockArgument>(hero.getInput()) ||
           !llvm::isa<BlockArgument>(hero.getWeight()))
    return hero.emitOpError("expects input and weight to be arguments of the kernel"), nullptr;
  return hero;
}

LogicalResult printMatmulResults(KernelContext& context, MatmulOp op, CodeWriter& code,
                                 const std::string& row, const std::string& column,
                                 const std::string& sums, int width, bool guarded) {
  llvm::ArrayRef<int64_t> shape = op.getType().getShape();
  RegionPrinter printer(context, shape, /*flat=*/false, width);
  printer.moveTo(code,
                 {row, column, guarded ? absl::StrFormat("%d - (%s)", shape.back(), column) : ""});
  Type element = op.getType().getElementType();
  if (!element.isF32()) {
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", width);
    code.format("  %s[j] = roundTo<%s>(%s[j]);", sums, deviceType(element), sums);
  }
  printer.define(op.getResult(), sums);
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  return success();
}

} // namespace tenon::codegen::cuda
