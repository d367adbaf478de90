#ifndef TENON_IR_STATEORDER_H
#define TENON_IR_STATEORDER_H

#include "mlir/IR/Operation.h"

namespace tenon {

/// Checks that the states which `writer`, a `tenon.kv_write` or a `tenon.kernel`, writes can be
/// written in place: nothing else writes the same state value, and nothing reads it afterwards. A
/// kernel writes an operand if its block argument is the state of a `tenon.kv_write`. Emits
/// "would need a copy of the state" with a note at the other access. Called from the verifiers; it
/// only reads IR, since kernels of one block are verified in parallel.
mlir::LogicalResult verifyStateOrder(mlir::Operation* writer);

} // namespace tenon

#endif // TENON_IR_STATEORDER_H
