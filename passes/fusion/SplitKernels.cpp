#include "ir/Views.h"
#include "kernels/PartTile.h"
#include "kernels/cuda/LibraryGemm.h"
#include "kernels/regions/Regions.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/schedule/Scheduler.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::passes {

#define GEN_PASS_DEF_SPLITKERNELSPASS
#include "passes/Passes.h.inc"

namespace {

/// Cuts scheduled kernels, but for calls of a library, which are whole.
class KernelCutter {
public:
  explicit KernelCutter(const schedule::Scheduler& scheduler) : scheduler(scheduler) {}

  LogicalResult cut(KernelOp kernel);

private:
  KernelOp moveOut(Operation& op, OpBuilder& builder);
  LogicalResult schedule(KernelOp single, KernelOp from);

  const schedule::Scheduler& scheduler;
  IRMapping mapping; ///< values of the region to those outside
};

} // namespace

/// A kernel of `op` alone, on the values that its operands have outside.
KernelOp KernelCutter::moveOut(Operation& op, OpBuilder& builder) {
  llvm::SmallSetVector<Value, 8> inputs;
  for (Value operand : op.getOperands())
    inputs.insert(mapping.lookup(operand));
  auto kernel = KernelOp::create(builder, op.getLoc(), op.getResultTypes(), inputs.getArrayRef());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&kernel.getBlock());
  IRMapping inner;
  for (Value operand : op.getOperands())
    inner.map(operand, kernel.getBlock().getArgument(llvm::find(inputs, mapping.lookup(operand)) -
                                                     inputs.begin()));
  Operation* copy = builder.clone(op, inner);
  YieldOp::create(builder, op.getLoc(), copy->getResults());
  mapping.map(op.getResults(), kernel.getResults());
  return kernel;
}

static OrderAttr orderOf(Operation& op) { return op.getAttrOfType<OrderAttr>("order"); }

/// The schedule of the part where the region names one; that of the region for the one operation
/// that decided it; else the best, which must not change the order of a reduction.
LogicalResult KernelCutter::schedule(KernelOp single, KernelOp from) {
  Operation& op = single.getBlock().front();
  if (ScheduleAttr part = partOf(&op)) {
    op.removeAttr(partAttrName);
    op.removeAttr(firstTileAttrName);
    single.setScheduleAttr(part);
    return success();
  }
  // A search behind a product follows the product's tiles.
  bool hasProduct = llvm::any_of(from.getBlock(), llvm::IsaPred<MatmulOp>);
  auto isHero = [&](Operation& other) {
    return !isElementOperation(other) && !(hasProduct && llvm::isa<ArgmaxOp>(other));
  };
  if (isHero(op) && llvm::count_if(from.getBlock().without_terminator(), isHero) == 1) {
    single.setScheduleAttr(from.getScheduleAttr());
    return success();
  }
  OrderAttr order = orderOf(op);
  ScheduleAttr best = scheduler.best(single, neighboursOf(single));
  if (!best || orderOf(op) != order)
    return from.emitOpError("expects to be cut into kernels that keep the order of each reduction, "
                            "but no schedule of ")
           << op.getName() << " alone does";
  single.setScheduleAttr(best);
  return success();
}

LogicalResult KernelCutter::cut(KernelOp kernel) {
  auto operations = kernel.getBlock().without_terminator();
  bool isCall = kernel.getScheduleAttr().getEmitter() == LibraryGemmKernel::name;
  if (isCall || llvm::hasSingleElement(operations))
    return success();
  mapping.clear();
  mapping.map(kernel.getBlock().getArguments(), kernel.getInputs());
  OpBuilder builder(kernel);
  for (Operation& op : operations) {
    if (isView(&op) || llvm::isa<ConstantOp>(op)) {
      builder.clone(op, mapping);
      continue;
    }
    if (failed(schedule(moveOut(op, builder), kernel)))
      return failure();
  }
  for (auto [value, result] : llvm::zip_equal(kernel.getYield().getValues(), kernel.getResults()))
    result.replaceAllUsesWith(mapping.lookup(value));
  kernel.erase();
  return success();
}

namespace {

class SplitKernelsPass : public impl::SplitKernelsPassBase<SplitKernelsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target) {
      module.emitError("expects a target to schedule for, '")
          << TenonDialect::targetAttrName << "'";
      return signalPassFailure();
    }
    FailureOr<schedule::Scheduler> scheduler = schedule::Scheduler::create(module, target);
    if (failed(scheduler))
      return signalPassFailure();
    KernelCutter cutter(*scheduler);
    WalkResult result = module.walk([&](KernelOp kernel) {
      return failed(cutter.cut(kernel)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tenon::passes
