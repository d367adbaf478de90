#include "ir/Views.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/Passes.h.inc"

namespace {

/// Moves `op` into a new kernel at its place.
KernelOp wrap(Operation* op, OpBuilder& builder) {
  llvm::SmallSetVector<Value, 8> inputs(op->operand_begin(), op->operand_end());
  builder.setInsertionPoint(op);
  auto kernel = KernelOp::create(builder, op->getLoc(), op->getResultTypes(), inputs.getArrayRef());
  op->replaceAllUsesWith(kernel.getResults());
  Block& block = kernel.getBlock();
  op->moveBefore(&block, block.end());
  for (OpOperand& operand : op->getOpOperands())
    operand.set(block.getArgument(llvm::find(inputs, operand.get()) - inputs.begin()));
  builder.setInsertionPointToEnd(&block);
  YieldOp::create(builder, op->getLoc(), op->getResults());
  return kernel;
}

class FuseKernelsPass : public impl::FuseKernelsPassBase<FuseKernelsPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    OpBuilder builder(&getContext());
    copySharedOutputs(function, builder);
    for (Operation& op : llvm::make_early_inc_range(function.getBody().front()))
      if (llvm::isa<ComputeOpInterface>(op) && !isView(&op))
        wrap(&op, builder);
  }

private:
  /// Puts a copy, in a kernel, behind every returned value that no computation of this function
  /// produces or that is returned more than once.
  static void copySharedOutputs(func::FuncOp function, OpBuilder& builder) {
    Operation* terminator = function.getBody().front().getTerminator();
    llvm::SmallPtrSet<Value, 8> taken;
    for (OpOperand& output : terminator->getOpOperands()) {
      Value source = getViewSource(output.get());
      Operation* producer = source.getDefiningOp();
      bool computed = producer && llvm::isa<ComputeOpInterface, KernelOp>(producer);
      if (computed && taken.insert(source).second)
        continue;
      auto type = llvm::cast<RankedTensorType>(output.get().getType());
      builder.setInsertionPoint(terminator);
      auto copy = ReshapeOp::create(builder, terminator->getLoc(), type, output.get(),
                                    builder.getDenseI64ArrayAttr(type.getShape()));
      output.set(wrap(copy, builder).getResult(0));
    }
  }
};

} // namespace
} // namespace tenon::passes
