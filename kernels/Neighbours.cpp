#include "kernels/Neighbours.h"

#include "ir/Views.h"

using namespace mlir;

namespace tenon::kernels {

/// The attention in a kernel; null where `op` is none or has none.
static AttentionOp attentionOf(Operation* op) {
  auto kernel = llvm::dyn_cast_or_null<KernelOp>(op);
  if (!kernel)
    return nullptr;
  auto found = kernel.getBlock().getOps<AttentionOp>();
  return found.empty() ? AttentionOp() : *found.begin();
}

/// The attention that reads `value`, itself or a view of it; null where there is none.
static AttentionOp readerOf(Value value) {
  llvm::SmallVector<Value> views = {value};
  while (!views.empty())
    for (Operation* user : views.pop_back_val().getUsers()) {
      if (AttentionOp attention = attentionOf(user))
        return attention;
      if (isView(user))
        llvm::append_range(views, user->getResults());
    }
  return nullptr;
}

Neighbours neighboursOf(KernelOp kernel) {
  auto comesFromAttention = [](Value input) {
    return bool(attentionOf(getViewSource(input).getDefiningOp()));
  };
  Neighbours neighbours;
  for (OpResult result : kernel->getResults())
    if (AttentionOp reader = readerOf(result))
      neighbours.reader = reader;
  neighbours.attention = neighbours.reader || llvm::any_of(kernel.getInputs(), comesFromAttention);
  return neighbours;
}

} // namespace tenon::kernels
