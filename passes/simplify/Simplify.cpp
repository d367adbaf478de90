#include "ir/Dialect.h"
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

class SimplifyPass : public impl::SimplifyPassBase<SimplifyPass> {
public:
  LogicalResult initialize(MLIRContext* context) override {
    RewritePatternSet patternSet(context);
    populateWithGenerated(patternSet);
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
    for (Operation& op : llvm::make_early_inc_range(module.getOps()))
      if (llvm::isa<WeightOp, StateOp>(op) && SymbolTable::symbolKnownUseEmpty(&op, module))
        op.erase();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace tenon::passes
