#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// h = x + a (+ b …), y = norm(h): the sum is needed again, so the kernel yields both. The sums
/// that lead to the norm are proposed one more at a time; the norms of one sum (a parallel residual
/// has two) together, too.
static void propose(Operation* op, Propose propose) {
  if (!llvm::isa<AddOp>(op))
    return;
  llvm::SmallVector<Operation*> norms =
      llvm::filter_to_vector(usersOf(op->getResult(0)), [&](Operation* user) {
        return isNorm(user) && producerOf(user->getOperand(0)) == op;
      });
  if (norms.empty())
    return;
  llvm::SmallVector<Operation*> sums;
  for (Operation* sum = op;
       llvm::isa_and_nonnull<AddOp>(sum) && sums.size() + 1 < mostKernelOperations;) {
    sums.push_back(sum);
    for (Operation* norm : norms) {
      llvm::SmallVector<Operation*> group(sums);
      group.push_back(norm);
      propose(group);
    }
    if (norms.size() > 1) {
      llvm::SmallVector<Operation*> group(sums);
      llvm::append_range(group, norms);
      propose(group);
    }
    Operation* left = operandOp<AddOp>(sum, 0);
    Operation* next = left ? left : operandOp<AddOp>(sum, 1);
    sum = next && onlyUser(next) == sum ? next : nullptr;
  }
}

extern constexpr FusionRule residualNorm = {"residual-norm", propose};

} // namespace tenon::passes::fusion::rules
