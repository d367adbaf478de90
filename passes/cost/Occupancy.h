#ifndef TENON_PASSES_COST_OCCUPANCY_H
#define TENON_PASSES_COST_OCCUPANCY_H

#include <optional>

#include "kernels/cuda/BlockResources.h"
#include "passes/cost/KernelWork.h"

namespace tenon::passes::cost {

/// How much of a kernel runs at once on a GPU, from its schedule alone.
struct Occupancy {
  int64_t tilesAtOnce = 1;  ///< that fit on all multiprocessors together
  double bytesInFlight = 0; ///< that the tiles which run at once have asked for
  bool tensorCores = false;
};

/// Of `tiles` blocks that take `needs`, nothing of a library's kernel.
Occupancy estimateOccupancy(const std::optional<kernels::BlockResources>& needs, int64_t tiles,
                            const KernelWork& work, TargetAttr target);

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_OCCUPANCY_H
