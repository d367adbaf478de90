#include "ir/Views.h"
#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// GEMMs of one input, Q, K and V or gate and up, as one GEMM whose weights stand
/// together; with the norm that feeds them, too.
static void propose(Operation* op, Propose propose) {
  // An argument of the function has no operation: the first of its GEMMs proposes.
  if (auto matmul = llvm::dyn_cast<MatmulOp>(op)) {
    Value source = getViewSource(matmul.getInput());
    if (llvm::isa<BlockArgument>(source))
      if (llvm::SmallVector<Operation*> group = matmulsOf(source); group.front() == op)
        proposePieces(group, propose);
  }
  if (op->getNumResults() != 1)
    return;
  llvm::SmallVector<Operation*> group = matmulsOf(op->getResult(0));
  if (group.size() < 2)
    return;
  proposePieces(group, propose);
  if (!isNorm(op))
    return;
  group.insert(group.begin(), op);
  propose(llvm::ArrayRef(group).take_front(mostKernelOperations));
}

extern constexpr FusionRule sharedInput = {"shared-input", propose};

} // namespace tenon::passes::fusion::rules
