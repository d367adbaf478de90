#ifndef TENON_RUNTIME_STEPTIMELINE_H
#define TENON_RUNTIME_STEPTIMELINE_H

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/BlockStamps.h"

namespace tenon::runtime {

/// When the blocks of one step did what, in ns since the first block of the call started.
///
/// A block starts, perhaps while the step before still runs; waits until that one has ended; works;
/// ends. Where a kernel does not wait, its work begins with the block. Blocks that leave without
/// waiting have no work: only their entry counts.
struct StepTimes {
  size_t blocks = 0; ///< 0 where the step leaves no stamps: a library's; the times are then 0
  double firstEntryNs = 0;
  double lastEntryNs = 0;
  double firstWorkNs = 0; ///< the first block is past the wait
  double lastWorkNs = 0;
  double firstExitNs = 0;
  double lastExitNs = 0;

  // Beside the last step before that left stamps.
  double gapNs = 0; ///< from its last exit to the first work here; 0 for the first step
  double aheadNs =
      0; ///< from the first entry here to its last exit: how long a block was there early
  /// Steps between both that left no stamps: the gap is then their time and the gaps around them.
  size_t unstampedBefore = 0;

  double workNs() const { return lastExitNs - firstWorkNs; }
  /// From the first to the last block that ends: how uneven the blocks are.
  double tailNs() const { return lastExitNs - firstExitNs; }
};

/// The steps of one call on the device's clock.
struct StepTimeline {
  std::vector<StepTimes> steps;
  double timerStepNs = 0; ///< the smallest step of the timer that was seen; 0 if it stood still

  // Parts of the time from the first work to the last exit.
  double workNs = 0;
  double gapNs = 0;
  double unstampedNs = 0; ///< gaps in which steps without stamps ran

  double totalNs() const { return workNs + gapNs + unstampedNs; }
};

/// Puts the stamps of a call, step by step and block by block, on one time scale, as fine as the steps of
/// the device's timer.
///
/// Internal where a block left no stamps, or stamps in no order that a block can have;
/// FailedPrecondition where no step has blocks.
absl::StatusOr<StepTimeline> readTimeline(std::span<const std::vector<BlockStamps>> steps);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_STEPTIMELINE_H
