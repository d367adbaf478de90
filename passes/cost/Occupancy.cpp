#include "passes/cost/Occupancy.h"

using namespace mlir;

namespace tenon::passes::cost {

/// A library's GEMM is large: its tiles fill the device, and its loads the memory system.
static Occupancy libraryOccupancy(const KernelWork& work, TargetAttr target) {
  Occupancy occupancy;
  occupancy.tilesAtOnce = *target.getProperty("sms");
  occupancy.bytesInFlight = static_cast<double>(work.weightBytes) + work.readBytes + 1;
  occupancy.tensorCores = true;
  return occupancy;
}

Occupancy estimateOccupancy(const std::optional<kernels::BlockResources>& needs, int64_t tiles,
                            const KernelWork& work, TargetAttr target) {
  if (!needs)
    return libraryOccupancy(work, target);
  Occupancy occupancy;
  int64_t blocks = std::max<int64_t>(1, residentBlocks(*needs, target));
  occupancy.tilesAtOnce = blocks * *target.getProperty("sms");
  double running = static_cast<double>(std::min(occupancy.tilesAtOnce, tiles));
  double bytes = static_cast<double>(work.weightBytes) + work.readBytes + work.writtenBytes;
  occupancy.bytesInFlight =
      needs->wholeTiles ? std::max(1.0, bytes * running / static_cast<double>(tiles))
                        : running * static_cast<double>(needs->threads * needs->bytesAThread);
  occupancy.tensorCores = needs->tensorCores;
  return occupancy;
}

} // namespace tenon::passes::cost
