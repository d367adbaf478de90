#ifndef TENON_PASSES_FUSION_LEGALITY_H
#define TENON_PASSES_FUSION_LEGALITY_H

#include "passes/fusion/FusionGraph.h"
#include "passes/schedule/Scheduler.h"

namespace tenon::passes::fusion {

/// Whether `nodes`, ascending, may become one kernel. What is asked, in this order:
///
/// 1. No more than `mostKernelOperations`.
/// 2. Convex: nothing outside runs after one of them and before another, so that the kernels still
///    have an order (of several regions together, the cover makes sure).
/// 3. No operation inside needs elements of other rows or columns of another one inside (footprint
///    `grid`): a block would wait for all blocks.
/// 4. GEMMs inside hold weights of one encoding, which can stand together.
Verdict acceptsGroup(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes);

/// Whether an emitter of the target computes the region. The emitter's own
/// description answers what else legality asks: which operations, several users and results, views,
/// broadcast, element types, and whether what its thread, warp or block owns covers the footprints.
Verdict acceptsRegion(const schedule::Scheduler& scheduler, KernelOp prototype);

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_LEGALITY_H
