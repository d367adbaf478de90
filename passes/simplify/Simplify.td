#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_TD
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_TD

include "ir/TenonOps.td"
include "mlir/IR/PatternBase.td"

// reshape(reshape(x)) = reshape(x)
def ReshapeOfReshape : Pat<(Tenon_ReshapeOp (Tenon_ReshapeOp $x, $inner), $outer),
                           (Tenon_ReshapeOp $x, $outer)>;

#endif // TENON_PASSES_SIMPLIFY_SIMPLIFY_TD
