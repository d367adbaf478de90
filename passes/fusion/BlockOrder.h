#ifndef TENON_PASSES_FUSION_BLOCKORDER_H
#define TENON_PASSES_FUSION_BLOCKORDER_H

#include "mlir/IR/Block.h"

namespace tenon::passes::fusion {

/// Puts the operations of a function's block into an order in which each stands after what it
/// reads, and a kernel that writes a state after those that read the state before; of all such
/// orders, the one nearest to the present. There must be one.
void sortBlock(mlir::Block& block);

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_BLOCKORDER_H
