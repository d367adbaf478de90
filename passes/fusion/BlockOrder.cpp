#include "passes/fusion/BlockOrder.h"

#include <queue>

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon::passes::fusion {

/// True where `kernel` writes its operand `use` in place.
static bool writesState(OpOperand& use) {
  auto kernel = llvm::dyn_cast<KernelOp>(use.getOwner());
  if (!kernel || !llvm::isa<StateType>(use.get().getType()))
    return false;
  Value argument = kernel.getBlock().getArgument(use.getOperandNumber());
  return llvm::any_of(argument.getUsers(), [&](Operation* user) {
    auto write = llvm::dyn_cast<KvWriteOp>(user);
    return write && write.getState() == argument;
  });
}

/// The operations that have to stand before `op`.
static llvm::SmallPtrSet<Operation*, 8> requirementsOf(Operation* op) {
  llvm::SmallPtrSet<Operation*, 8> before;
  for (OpOperand& operand : op->getOpOperands()) {
    if (Operation* producer = operand.get().getDefiningOp())
      before.insert(producer);
    if (writesState(operand))
      for (Operation* reader : operand.get().getUsers())
        if (reader != op)
          before.insert(reader);
  }
  return before;
}

void sortBlock(Block& block) {
  llvm::SmallVector<Operation*> ops;
  llvm::DenseMap<Operation*, size_t> positions;
  for (Operation& op : block.without_terminator()) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  std::vector<llvm::SmallVector<size_t, 4>> followers(ops.size());
  std::vector<size_t> missing(ops.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (auto [position, op] : llvm::enumerate(ops)) {
    for (Operation* before : requirementsOf(op)) {
      followers[positions.at(before)].push_back(position);
      ++missing[position];
    }
    if (missing[position] == 0)
      ready.push(position);
  }
  while (!ready.empty()) {
    size_t position = ready.top();
    ready.pop();
    ops[position]->moveBefore(block.getTerminator());
    for (size_t follower : followers[position])
      if (--missing[follower] == 0)
        ready.push(follower);
  }
  assert(llvm::all_of(missing, [](size_t count) { return count == 0; }) &&
         "kernels that need each other have no order");
}

} // namespace tenon::passes::fusion
