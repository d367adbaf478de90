#include "passes/fusion/Region.h"

#include "ir/Views.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::passes::fusion {

Region::Region(llvm::ArrayRef<Operation*> operations) : ops(operations) {
  inside.insert(ops.begin(), ops.end());
  llvm::SmallPtrSet<Value, 8> seen;
  for (Operation* op : ops) {
    for (Value operand : op->getOperands()) {
      Operation* producer = getViewSource(operand).getDefiningOp();
      if (!(producer && isInside(producer)) && seen.insert(operand).second)
        inputs.push_back(operand);
    }
    for (Value result : op->getResults())
      if (leaves(result))
        results.push_back(result);
  }
}

/// True where something outside reads `value`, perhaps through views; or nothing reads it at all.
bool Region::leaves(Value value) const {
  if (value.use_empty())
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation* user) {
    return isView(user) ? !user->use_empty() && leaves(user->getResult(0)) : !isInside(user);
  });
}

llvm::SmallVector<Type> Region::resultTypes() const {
  return llvm::map_to_vector(results, [](Value value) { return value.getType(); });
}

void Region::walk(llvm::function_ref<void(Operation*)> visit) const {
  llvm::SmallPtrSet<Operation*, 8> seen;
  llvm::SmallPtrSet<Value, 8> known(inputs.begin(), inputs.end());
  std::function<void(Value)> bring = [&](Value value) {
    Operation* op = value.getDefiningOp();
    if (known.contains(value) || !op || !isView(op) || !seen.insert(op).second)
      return;
    bring(op->getOperand(0));
    visit(op);
  };
  for (Operation* op : ops) {
    for (Value operand : op->getOperands())
      bring(operand);
    visit(op);
  }
}

std::vector<const void*> Region::content() const {
  std::vector<const void*> content;
  llvm::SmallDenseMap<Value, uintptr_t, 16> numbers;
  auto addNumber = [&](Value value) {
    content.push_back(reinterpret_cast<const void*>(numbers.at(value)));
  };
  auto define = [&](Value value) {
    numbers.try_emplace(value, numbers.size());
    content.push_back(value.getType().getAsOpaquePointer());
  };
  llvm::for_each(inputs, define);
  walk([&](Operation* op) {
    content.push_back(op->getName().getAsOpaquePointer());
    content.push_back(op->getAttrDictionary().getAsOpaquePointer());
    llvm::for_each(op->getOperands(), addNumber);
    llvm::for_each(op->getResults(), define);
  });
  content.push_back(nullptr); // no operation has this name
  llvm::for_each(results, addNumber);
  return content;
}

/// Copies the operations into the region, views as they are asked for.
void Region::fill(KernelOp kernel, OpBuilder& builder) const {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&kernel.getBlock());
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, kernel.getBlock().getArguments()))
    mapping.map(input, argument);
  walk([&](Operation* op) { builder.clone(*op, mapping); });
  YieldOp::create(builder, kernel.getLoc(),
                  llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); }));
}

OwningOpRef<KernelOp> Region::prototype() const {
  OpBuilder builder(ops.front()->getContext());
  OwningOpRef<KernelOp> kernel =
      KernelOp::create(builder, ops.back()->getLoc(), resultTypes(), ValueRange());
  for (Value input : inputs)
    kernel->getBlock().addArgument(input.getType(), input.getLoc());
  fill(*kernel, builder);
  return kernel;
}

static void eraseDeadViews(Value value) {
  for (Operation* user : llvm::make_early_inc_range(value.getUsers()))
    if (isView(user)) {
      eraseDeadViews(user->getResult(0));
      if (user->use_empty())
        user->erase();
    }
}

KernelOp Region::replace(OpBuilder& builder) {
  auto kernel = KernelOp::create(builder, ops.back()->getLoc(), resultTypes(), inputs);
  fill(kernel, builder);
  for (auto [value, result] : llvm::zip_equal(results, kernel.getResults()))
    value.replaceAllUsesWith(result);
  for (Operation* op : llvm::reverse(ops)) {
    for (Value result : op->getResults())
      eraseDeadViews(result);
    op->erase();
  }
  for (Value result : kernel.getResults())
    eraseDeadViews(result);
  return kernel;
}

} // namespace tenon::passes::fusion
