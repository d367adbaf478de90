#include "ir/KvCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_PAGECACHESPASS
#include "passes/Passes.h.inc"

namespace {

/// The caches of a module and how many positions of how many sequences each holds.
struct DenseCaches {
  llvm::SmallVector<StateOp> states;
  int64_t sequences = 0, capacity = 0;
};

class PageCachesPass : public impl::PageCachesPassBase<PageCachesPass> {
public:
  using impl::PageCachesPassBase<PageCachesPass>::PageCachesPassBase;

  void runOnOperation() override {
    if (FailureOr<DenseCaches> caches = findCaches(); failed(caches) || failed(page(*caches)))
      signalPassFailure();
  }

private:
  FailureOr<DenseCaches> findCaches();
  LogicalResult page(const DenseCaches& caches);
  void pageFunction(func::FuncOp function, RankedTensorType table);
};

} // namespace

/// Whether the function reads or writes a state.
static bool usesCaches(func::FuncOp function) { return !function.getOps<GetStateOp>().empty(); }

FailureOr<DenseCaches> PageCachesPass::findCaches() {
  DenseCaches caches;
  ModuleOp module = getOperation();
  if (!llvm::is_contained({16, 32, 64, 128}, static_cast<int64_t>(positions)))
    return module.emitError("expects pages of 16, 32, 64 or 128 positions, but got ")
           << static_cast<int64_t>(positions);
  auto phase = module->getAttrOfType<PhaseAttr>(TenonDialect::phaseAttrName);
  if (phase && phase.getValue() != Phase::Input)
    return module.emitError("expects a module of the phase input to page its caches, but got ")
           << stringifyPhase(phase.getValue());
  for (auto state : module.getOps<StateOp>()) {
    auto type = llvm::cast<StateType>(state.getType());
    llvm::ArrayRef<int64_t> shape = type.getShape();
    if (type.getLayout().getKind() != StateLayout::Dense || shape.size() != 4)
      return state.emitOpError("expects caches [S, C, H, D] in the layout dense to page them, but "
                               "got ")
             << type;
    if (!caches.states.empty() && (shape[0] != caches.sequences || shape[1] != caches.capacity))
      return state.emitOpError("expects all caches to hold ")
             << caches.sequences << " sequences of " << caches.capacity
             << " positions to share a block table, but got " << type;
    caches.sequences = shape[0], caches.capacity = shape[1];
    caches.states.push_back(state);
  }
  return caches;
}

LogicalResult PageCachesPass::page(const DenseCaches& caches) {
  if (caches.states.empty())
    return success();
  auto blocks = static_cast<int64_t>(llvm::divideCeil(caches.capacity, positions));
  int64_t most = detail::saturatingProduct({caches.sequences, blocks});
  int64_t count = pages == 0 ? most : static_cast<int64_t>(pages);
  if (count < blocks || count > INT32_MAX)
    return getOperation().emitError("expects at least ")
           << blocks << " pages, which one sequence of " << caches.capacity
           << " positions takes, and at most 2^31 - 1, but got " << count;
  for (StateOp state : caches.states) {
    auto type = llvm::cast<StateType>(state.getType());
    llvm::ArrayRef<int64_t> shape = type.getShape(); // [S, C, H, D]
    auto layout = StateLayoutAttr::get(&getContext(), StateLayout::Paged, /*kept=*/0);
    auto paged =
        StateType::getChecked([&] { return state.emitOpError(); }, &getContext(),
                              llvm::ArrayRef<int64_t>{count, shape[2], positions, shape[3]},
                              type.getElementType(), layout);
    if (!paged)
      return failure();
    state.setType(paged);
  }
  auto table =
      RankedTensorType::get({caches.sequences, blocks}, IntegerType::get(&getContext(), 32));
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (usesCaches(function))
      pageFunction(function, table);
  return success();
}

void PageCachesPass::pageFunction(func::FuncOp function, RankedTensorType table) {
  Builder builder(&getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(TenonDialect::portAttrName, builder.getStringAttr("block_table")),
       builder.getNamedAttr(TenonDialect::roleAttrName,
                            PortRoleAttr::get(&getContext(), PortRole::BlockTable))});
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, table, attributes, function.getLoc());
  auto blockTable = llvm::cast<TypedValue<RankedTensorType>>(function.getArgument(index));
  SymbolTable symbols(getOperation());
  function.walk([&](Operation* op) {
    if (auto state = llvm::dyn_cast<GetStateOp>(op)) {
      state.getResult().setType(
          llvm::cast<StateType>(symbols.lookup<StateOp>(state.getState()).getType()));
    } else if (auto write = llvm::dyn_cast<KvWriteOp>(op)) {
      write.getResult().setType(write.getState().getType());
      write.getBlockTableMutable().assign(blockTable);
    } else if (auto attention = llvm::dyn_cast<AttentionOp>(op);
               attention && llvm::isa<StateType>(attention.getKey().getType())) {
      attention.getBlockTableMutable().assign(blockTable);
    }
  });
}

} // namespace tenon::passes
