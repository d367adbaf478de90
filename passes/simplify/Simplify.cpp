#include "ir/Dialect.h"
#include "ir/KernelLimits.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"

namespace {

#include "passes/simplify/Simplify.inc"

/// A concat of more inputs than a kernel takes, in pieces that it takes:
/// concat(a…, b…) = concat(concat(a…), concat(b…)).
class SplitWideConcat : public OpRewritePattern<ConcatOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter& rewriter) const override {
    constexpr size_t most = mostKernelArguments - 1; // beside the result
    size_t count = op.getInputs().size();
    if (count <= most)
      return rewriter.notifyMatchFailure(op, "a kernel takes all inputs");
    llvm::SmallVector<Value> pieces;
    for (size_t first = 0; first < count; first += most) {
      OperandRange inputs = op.getInputs().slice(first, std::min(most, count - first));
      llvm::SmallVector<int64_t> shape(op.getType().getShape());
      shape[op.getAxis()] = 0;
      for (Value input : inputs)
        shape[op.getAxis()] +=
            llvm::cast<RankedTensorType>(input.getType()).getDimSize(op.getAxis());
      pieces.push_back(
          ConcatOp::create(rewriter, op.getLoc(), op.getType().clone(shape), inputs, op.getAxis()));
    }
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), pieces, op.getAxis());
    return success();
  }
};

class SimplifyPass : public impl::SimplifyPassBase<SimplifyPass> {
public:
  LogicalResult initialize(MLIRContext* context) override {
    RewritePatternSet patternSet(context);
    populateWithGenerated(patternSet);
    patternSet.add<SplitWideConcat>(context);
    for (RegisteredOperationName name :
         context->getRegisteredOperationsByDialect(TenonDialect::getDialectNamespace()))
      name.getCanonicalizationPatterns(patternSet, context);
    patterns = std::move(patternSet);
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(applyPatternsGreedily(module, patterns)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    for (auto function : module.getOps<func::FuncOp>())
      eliminateCommonSubExpressions(rewriter, dominance, function);
    dropUnusedSymbols(module);
  }

private:
  /// Removes weights and states that no operation of the module names. Files stay: the model's
  /// tokeniser lies in one.
  static void dropUnusedSymbols(ModuleOp module) {
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
    if (!uses) // operations of which it is not known what they name
      return;
    llvm::DenseSet<StringAttr> used;
    for (const SymbolTable::SymbolUse& use : *uses)
      used.insert(use.getSymbolRef().getRootReference());
    for (Operation& op : llvm::make_early_inc_range(module.getOps()))
      if (llvm::isa<WeightOp, StateOp>(op) && !used.contains(SymbolTable::getSymbolName(&op)))
        op.erase();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace tenon::passes
