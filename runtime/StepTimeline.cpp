#include "runtime/StepTimeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime {

namespace {

using Steps = std::span<const std::vector<BlockStamps>>;

template <typename Visit> void forEachBlock(Steps steps, Visit visit) {
  for (const std::vector<BlockStamps>& step : steps)
    for (const BlockStamps& block : step)
      visit(block);
}

/// The smallest difference of two stamps of the timer.
double findTimerStep(Steps steps) {
  std::vector<uint64_t> times;
  forEachBlock(steps, [&](const BlockStamps& block) { times.push_back(block.entryNs); });
  std::ranges::sort(times);
  uint64_t smallest = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (uint64_t difference = times[i] - times[i - 1]; difference > 0)
      smallest = smallest == 0 ? difference : std::min(smallest, difference);
  return static_cast<double>(smallest);
}

absl::Status checkBlock(const BlockStamps& block) {
  if (block.entryNs == 0 || block.exitNs == 0)
    return absl::InternalError("expects stamps, but found none");
  bool waited = block.waitNs != 0;
  if (block.exitNs < block.entryNs ||
      (waited && (block.waitNs < block.entryNs || block.exitNs < block.waitNs)))
    return absl::InternalError(absl::StrFormat(
        "expects entry, wait and exit in this order, but found them at %u, %u and %u ns",
        block.entryNs, block.waitNs, block.exitNs));
  return absl::OkStatus();
}

absl::Status checkBlocks(Steps steps) {
  for (size_t step = 0; step < steps.size(); ++step)
    for (size_t block = 0; block < steps[step].size(); ++block)
      if (absl::Status status = checkBlock(steps[step][block]); !status.ok())
        return absl::Status(status.code(), absl::StrFormat("step %u, block %u: %s", step, block,
                                                           std::string(status.message())));
  return absl::OkStatus();
}

/// The first and the last of some times.
struct Range {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();

  void add(double time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

StepTimes summarizeStep(const std::vector<BlockStamps>& blocks, uint64_t startNs) {
  StepTimes times;
  times.blocks = blocks.size();
  if (blocks.empty())
    return times;
  auto timeOf = [&](uint64_t ns) { return static_cast<double>(ns - startNs); };
  bool waits =
      std::ranges::any_of(blocks, [](const BlockStamps& block) { return block.waitNs != 0; });
  Range entry, work, exit;
  for (const BlockStamps& block : blocks) {
    entry.add(timeOf(block.entryNs));
    if (waits && block.waitNs == 0)
      continue;
    work.add(timeOf(waits ? block.waitNs : block.entryNs));
    exit.add(timeOf(block.exitNs));
  }
  times.firstEntryNs = entry.first, times.lastEntryNs = entry.last;
  times.firstWorkNs = work.first, times.lastWorkNs = work.last;
  times.firstExitNs = exit.first, times.lastExitNs = exit.last;
  return times;
}

/// Places each step beside the one before, and adds up the parts of the call.
void findGaps(StepTimeline& timeline) {
  const StepTimes* before = nullptr;
  size_t unstamped = 0;
  for (StepTimes& step : timeline.steps) {
    if (step.blocks == 0) {
      ++unstamped;
      continue;
    }
    step.unstampedBefore = std::exchange(unstamped, 0);
    if (before) {
      step.gapNs = step.firstWorkNs - before->lastExitNs;
      step.aheadNs = before->lastExitNs - step.firstEntryNs;
      (step.unstampedBefore ? timeline.unstampedNs : timeline.gapNs) += step.gapNs;
    }
    timeline.workNs += step.workNs();
    before = &step;
  }
}

} // namespace

absl::StatusOr<StepTimeline> readTimeline(Steps steps) {
  TENON_RETURN_IF_ERROR(checkBlocks(steps));
  uint64_t startNs = std::numeric_limits<uint64_t>::max();
  forEachBlock(steps,
               [&](const BlockStamps& block) { startNs = std::min(startNs, block.entryNs); });
  if (startNs == std::numeric_limits<uint64_t>::max())
    return absl::FailedPreconditionError("expects steps whose blocks leave stamps, but found none");
  StepTimeline timeline;
  timeline.timerStepNs = findTimerStep(steps);
  for (const std::vector<BlockStamps>& blocks : steps)
    timeline.steps.push_back(summarizeStep(blocks, startNs));
  findGaps(timeline);
  return timeline;
}

} // namespace tenon::runtime
