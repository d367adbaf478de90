#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion::rules {

/// norm → matmul: the norm is computed again by every tile of the GEMM, which costs less than a
/// kernel of its own where rows are few.
static void propose(Operation* op, Propose propose) {
  if (!isNorm(op))
    return;
  for (Operation* matmul : matmulsOf(op->getResult(0)))
    propose({op, matmul});
}

extern constexpr FusionRule normMatmul = {"norm-matmul", propose};

} // namespace tenon::passes::fusion::rules
