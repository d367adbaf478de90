#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// matmul → bias, activation, scale, residual(s): each chain that begins after a GEMM, one
/// operation longer at a time.
static void propose(Operation* op, Propose propose) {
  if (!llvm::isa<MatmulOp>(op))
    return;
  llvm::SmallVector<Operation*> group = {op};
  for (Operation* next : elementwiseTail(op)) {
    group.push_back(next);
    propose(group);
  }
}

extern constexpr FusionRule matmulEpilogue = {"matmul-epilogue", propose};

} // namespace tenon::passes::fusion::rules
