#include "passes/simplify/Simplify.h"
#include "ir/Dialect.h"
#include "ir/KernelLimits.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/simplify/raise/Raise.h"

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

/// Reports what patterns raise, in remarks of category `raise` and to a list.
class RaiseListener : public RewriterBase::Listener {
public:
  explicit RaiseListener(std::vector<RaisedOperation>* raised) : raised(raised) {}

  void notifyPatternBegin(const Pattern& pattern, Operation* op) override {
    isRaising = llvm::is_contained(pattern.getDebugLabels(), raise::label);
  }
  void notifyPatternEnd(const Pattern& pattern, LogicalResult status) override {
    isRaising = false;
  }
  void notifyOperationReplaced(Operation* op, ValueRange replacement) override {
    if (!isRaising)
      return;
    Operation* found = replacement.front().getDefiningOp();
    while (llvm::isa<ReshapeOp, TransposeOp>(found)) // views of the result
      found = found->getOperand(0).getDefiningOp();
    llvm::StringRef name = llvm::isa<GetWeightOp>(found) ? llvm::StringRef("transposed_weight")
                                                         : found->getName().stripDialect();
    auto function = op->getParentOfType<func::FuncOp>();
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("raise").category("raise").function(function.getName()))
        << remark::detail::Remark::Arg("operation", name);
    if (raised)
      raised->push_back({function.getName().str(), name.str(), op->getLoc()});
  }

private:
  std::vector<RaisedOperation>* raised;
  bool isRaising = false;
};

class SimplifyPass : public impl::SimplifyPassBase<SimplifyPass> {
public:
  using SimplifyPassBase::SimplifyPassBase;
  explicit SimplifyPass(const SimplifyOptions& options) : raised(options.raised) {
    disabledRaises = options.disabledRaises;
  }

  LogicalResult initialize(MLIRContext* context) override {
    RewritePatternSet patternSet(context);
    populateWithGenerated(patternSet);
    patternSet.add<SplitWideConcat>(context);
    std::vector<std::string> disabled(disabledRaises.begin(), disabledRaises.end());
    addRaises(patternSet, disabled);
    for (RegisteredOperationName name :
         context->getRegisteredOperationsByDialect(TenonDialect::getDialectNamespace()))
      name.getCanonicalizationPatterns(patternSet, context);
    patterns = std::move(patternSet);
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    RaiseListener listener(raised);
    if (failed(
            applyPatternsGreedily(module, patterns, GreedyRewriteConfig().setListener(&listener))))
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
  std::vector<RaisedOperation>* raised = nullptr; ///< may be null
};

} // namespace

std::unique_ptr<Pass> createSimplifyPass(const SimplifyOptions& options) {
  return std::make_unique<SimplifyPass>(options);
}

} // namespace tenon::passes
