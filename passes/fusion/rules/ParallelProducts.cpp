#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// The norms of the value that `norm` reads; empty where `norm` is not the first of them.
static llvm::SmallVector<Operation*> parallelNorms(Operation* norm) {
  Value input = norm->getOperand(0);
  auto isParallel = [&](Operation* user) { return isNorm(user) && user->getOperand(0) == input; };
  if (llvm::any_of(input.getUsers(), [&](Operation* user) {
        return user != norm && isParallel(user) && user->isBeforeInBlock(norm);
      }))
    return {};
  return llvm::filter_to_vector(usersOf(input), isParallel);
}

/// The halves of a parallel block, attention and MLP, begin with GEMMs of norms of one value
/// (GPT-NeoX): all of them with what follows element by element, and with the norms, too.
///
///     n = norm(x), m = norm'(x); q, k, v = n · W + b; u = gelu(m · U + c)
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  llvm::SmallVector<Operation*> norms, gemms;
  for (Operation* norm : parallelNorms(op)) {
    llvm::SmallVector<Operation*> found = matmulsOf(norm->getResult(0));
    if (found.empty())
      continue;
    norms.push_back(norm);
    for (Operation* matmul : found) {
      gemms.push_back(matmul);
      llvm::append_range(gemms, pointwiseTail(matmul));
    }
  }
  if (norms.size() < 2)
    return;
  propose(gemms);
  llvm::append_range(norms, gemms);
  propose(norms);
}

extern constexpr FusionRule parallelProducts = {"parallel-products", propose};

} // namespace tenon::passes::fusion::rules
