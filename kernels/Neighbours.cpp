#include "kernels/Neighbours.h"

#include "ir/Views.h"

using namespace mlir;

namespace tenon::kernels {

static bool isAttention(Operation* op) {
  auto kernel = llvm::dyn_cast_or_null<KernelOp>(op);
  return kernel && llvm::any_of(kernel.getBlock(), llvm::IsaPred<AttentionOp>);
}

/// Whether attention reads `value`, itself or a view of it.
static bool feedsAttention(Value value) {
  llvm::SmallVector<Value> views = {value};
  while (!views.empty())
    for (Operation* user : views.pop_back_val().getUsers()) {
      if (isAttention(user))
        return true;
      if (isView(user))
        llvm::append_range(views, user->getResults());
    }
  return false;
}

Neighbours neighboursOf(KernelOp kernel) {
  auto comesFromAttention = [](Value input) {
    return isAttention(getViewSource(input).getDefiningOp());
  };
  return {llvm::any_of(kernel.getInputs(), comesFromAttention) ||
          llvm::any_of(kernel->getResults(), feedsAttention)};
}

} // namespace tenon::kernels
