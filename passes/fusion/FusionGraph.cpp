#include "passes/fusion/FusionGraph.h"

#include "ir/Views.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::passes::fusion {

FusionGraph::FusionGraph(func::FuncOp function) {
  for (Operation& op : function.getBody().front())
    if (llvm::isa<ComputeOpInterface>(op) && !isView(&op)) {
      indices[&op] = nodes.size();
      nodes.push_back(&op);
    }
  successors.resize(nodes.size());
  for (auto [node, op] : llvm::enumerate(nodes))
    addEdges(op, node);
  closure.assign(nodes.size(), llvm::BitVector(nodes.size()));
  reverseClosure = closure;
  for (unsigned node = 0; node < nodes.size(); ++node)
    for (unsigned next : successors[node]) {
      reverseClosure[next].set(node);
      reverseClosure[next] |= reverseClosure[node];
    }
  for (unsigned node = nodes.size(); node-- > 0;)
    for (unsigned next : successors[node]) {
      closure[node].set(next);
      closure[node] |= closure[next];
    }
}

/// Program order is a topological order, so edges lead to later nodes alone.
void FusionGraph::addEdges(Operation* op, unsigned node) {
  for (Value operand : op->getOperands())
    if (Operation* producer = producerOf(operand))
      if (auto from = indexOf(producer))
        successors[*from].push_back(node);
  auto write = llvm::dyn_cast<KvWriteOp>(op);
  if (!write)
    return;
  for (Operation* reader : usersOf(write.getState()))
    if (auto from = indexOf(reader); from && *from < node)
      successors[*from].push_back(node);
}

std::optional<unsigned> FusionGraph::indexOf(Operation* op) const {
  auto found = indices.find(op);
  return found == indices.end() ? std::nullopt : std::optional(found->second);
}

Operation* producerOf(Value value) { return getViewSource(value).getDefiningOp(); }

static void collectUsers(Value value, llvm::SmallVectorImpl<Operation*>& users) {
  for (Operation* user : value.getUsers())
    if (isView(user))
      collectUsers(user->getResult(0), users);
    else
      users.push_back(user);
}

llvm::SmallVector<Operation*> usersOf(Value value) {
  llvm::SmallVector<Operation*> users;
  collectUsers(value, users);
  llvm::sort(users, [](Operation* a, Operation* b) { return a != b && a->isBeforeInBlock(b); });
  users.erase(llvm::unique(users), users.end());
  return users;
}

} // namespace tenon::passes::fusion
