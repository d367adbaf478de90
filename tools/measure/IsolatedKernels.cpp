#include "tools/measure/IsolatedKernels.h"

#include "ir/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Pipeline.h"
#include "passes/fusion/Region.h"
#include "support/Status.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::tools {

namespace {

/// Builds the module of isolated operations.
class Isolator {
public:
  explicit Isolator(MLIRContext* context) : builder(context) {}

  OwningOpRef<ModuleOp> build(llvm::ArrayRef<Operation*> ops);

private:
  void bring(Value value);
  void addWeight(Value value, RankedTensorType type);
  void addState(Value value);
  std::string nextName(const char* kind) { return kind + std::to_string(symbols++); }

  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  IRMapping mapping;
  unsigned symbols = 0;
};

} // namespace

/// A weight of one range of the one file, which nobody opens.
void Isolator::addWeight(Value value, RankedTensorType type) {
  std::string name = nextName("w");
  int64_t bytes = *getStorageBytes(type);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  std::string file = nextName("file");
  FileOp::create(builder, value.getLoc(), file, file, bytes, 0);
  auto range = RangeAttr::get(builder.getContext(),
                              FlatSymbolRefAttr::get(builder.getContext(), file), 0, bytes);
  WeightOp::create(builder, value.getLoc(), name, type, builder.getArrayAttr(range));
  builder.setInsertionPointToEnd(&function.front());
  mapping.map(value, GetWeightOp::create(builder, value.getLoc(), type, name).getResult());
}

void Isolator::addState(Value value) {
  std::string name = nextName("s");
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  StateOp::create(builder, value.getLoc(), name, llvm::cast<StateType>(value.getType()));
  builder.setInsertionPointToEnd(&function.front());
  mapping.map(value,
              GetStateOp::create(builder, value.getLoc(), value.getType(), name).getResult());
}

/// Makes a value from outside one of the new function.
void Isolator::bring(Value value) {
  if (mapping.contains(value))
    return;
  Operation* op = value.getDefiningOp();
  if (llvm::isa<StateType>(value.getType()))
    return addState(value);
  if (llvm::isa_and_nonnull<GetWeightOp>(op))
    return addWeight(value, llvm::cast<RankedTensorType>(value.getType()));
  if (op && (isView(op) || llvm::isa<ConstantOp>(op))) {
    for (Value operand : op->getOperands())
      bring(operand);
    builder.clone(*op, mapping);
    return;
  }
  mapping.map(value, function.front().addArgument(value.getType(), value.getLoc()));
}

OwningOpRef<ModuleOp> Isolator::build(llvm::ArrayRef<Operation*> ops) {
  Location location = ops.back()->getLoc();
  module = ModuleOp::create(builder, location);
  (*module)->setAttr(TenonDialect::phaseAttrName,
                     PhaseAttr::get(builder.getContext(), Phase::Simplified));
  builder.setInsertionPointToEnd(module->getBody());
  function =
      func::FuncOp::create(builder, location, isolatedFunction, builder.getFunctionType({}, {}));
  function.addEntryBlock();
  builder.setInsertionPointToEnd(&function.front());
  llvm::SmallVector<Value> results;
  for (Value result : passes::fusion::Region(ops).getResults())
    if (!llvm::isa<StateType>(result.getType()))
      results.push_back(result);
  for (Operation* op : ops) {
    for (Value operand : op->getOperands())
      bring(operand);
    builder.clone(*op, mapping);
  }
  auto inside = llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, location, inside);
  function.setFunctionType(
      builder.getFunctionType(function.front().getArgumentTypes(), ValueRange(inside).getTypes()));
  return std::move(module);
}

OwningOpRef<ModuleOp> isolate(llvm::ArrayRef<Operation*> ops) {
  return Isolator(ops.front()->getContext()).build(ops);
}

func::FuncOp isolatedBody(ModuleOp isolated) {
  return isolated.lookupSymbol<func::FuncOp>(isolatedFunction);
}

llvm::SmallVector<Operation*> computationsOf(ModuleOp isolated) {
  llvm::SmallVector<Operation*> ops;
  for (Operation& op : isolatedBody(isolated).front().without_terminator())
    if (llvm::isa<ComputeOpInterface>(op) && !isView(&op))
      ops.push_back(&op);
  return ops;
}

absl::StatusOr<OwningOpRef<ModuleOp>> planIsolated(ModuleOp isolated, TargetAttr target,
                                                   Grouping grouping) {
  OwningOpRef<ModuleOp> module = isolated.clone();
  if (grouping == Grouping::OneKernel) {
    llvm::SmallVector<Operation*> ops = computationsOf(*module);
    OpBuilder builder(ops.back());
    passes::fusion::Region(ops).replace(builder);
    (*module)->setAttr(TenonDialect::phaseAttrName,
                       PhaseAttr::get(module->getContext(), Phase::Fused));
  }
  // The kernels that fusion prices, libraries included; what is still apart stays so.
  passes::FusionOptions fusion{.plan = passes::Plan::Fused,
                               .libraries = grouping != Grouping::OwnKernelEach,
                               .maxFusions = 0};
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, {.target = target, .fusion = fusion}));
  return module;
}

} // namespace tenon::tools
