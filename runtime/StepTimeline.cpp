#include "runtime/StepTimeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime {

namespace {

using Steps = std::span<const std::vector<BlockStamps>>;

/// The entries of blocks on one multiprocessor. Values are relative to the first, so that a double
/// holds their products.
struct Multiprocessor {
  uint64_t firstClock = 0;
  double entries = 0;
  double meanCycles = 0;
  double meanTimerNs = 0;

  double cyclesOf(uint64_t clock) const {
    return static_cast<double>(static_cast<int64_t>(clock - firstClock));
  }
};

/// The line from clocks to the timer.
class ClockFit {
public:
  static absl::StatusOr<ClockFit> create(Steps steps);

  /// In ns since the earliest stamp of the timer.
  double timeNs(const BlockStamps& block, uint64_t clock) const {
    const Multiprocessor& found = multiprocessors.at(block.multiprocessor);
    return found.meanTimerNs + nsPerCycle * (found.cyclesOf(clock) - found.meanCycles);
  }

  double nsPerCycle = 0;
  double errorNs = 0;

private:
  void addMeans(Steps steps);
  double timerNs(const BlockStamps& block) const {
    return static_cast<double>(block.timerNs - firstTimerNs);
  }

  uint64_t firstTimerNs = std::numeric_limits<uint64_t>::max();
  std::map<uint64_t, Multiprocessor> multiprocessors;
};

template <typename Visit> void forEachBlock(Steps steps, Visit visit) {
  for (const std::vector<BlockStamps>& step : steps)
    for (const BlockStamps& block : step)
      visit(block);
}

void ClockFit::addMeans(Steps steps) {
  forEachBlock(steps, [&](const BlockStamps& block) {
    firstTimerNs = std::min(firstTimerNs, block.timerNs);
  });
  forEachBlock(steps, [&](const BlockStamps& block) {
    Multiprocessor& seen = multiprocessors[block.multiprocessor];
    if (seen.entries == 0)
      seen.firstClock = block.entryClock;
    ++seen.entries;
    seen.meanCycles += (seen.cyclesOf(block.entryClock) - seen.meanCycles) / seen.entries;
    seen.meanTimerNs += (timerNs(block) - seen.meanTimerNs) / seen.entries;
  });
}

absl::StatusOr<ClockFit> ClockFit::create(Steps steps) {
  ClockFit fit;
  fit.addMeans(steps);
  double products = 0, squares = 0, count = 0;
  forEachBlock(steps, [&](const BlockStamps& block) {
    const Multiprocessor& seen = fit.multiprocessors.at(block.multiprocessor);
    double cycles = seen.cyclesOf(block.entryClock) - seen.meanCycles;
    products += cycles * (fit.timerNs(block) - seen.meanTimerNs);
    squares += cycles * cycles;
  });
  if (squares == 0 || products <= 0)
    return absl::FailedPreconditionError(
        "expects a multiprocessor that runs blocks at different times of the device's timer, which "
        "says how long its cycles are, but found none");
  fit.nsPerCycle = products / squares;
  double error = 0;
  forEachBlock(steps, [&](const BlockStamps& block) {
    double missedNs = fit.timeNs(block, block.entryClock) - fit.timerNs(block);
    error += missedNs * missedNs;
    ++count;
  });
  fit.errorNs = std::sqrt(error / count);
  return fit;
}

absl::Status checkBlock(const BlockStamps& block) {
  if (block.timerNs == 0 || block.exitClock == 0)
    return absl::InternalError("expects stamps, but found none");
  bool waited = block.waitClock != 0;
  if (block.exitClock < block.entryClock ||
      (waited && (block.waitClock < block.entryClock || block.exitClock < block.waitClock)))
    return absl::InternalError(
        absl::StrFormat("expects entry, wait and exit in this order, but found them at cycles %u, "
                        "%u and %u of multiprocessor %u",
                        block.entryClock, block.waitClock, block.exitClock, block.multiprocessor));
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

/// The smallest difference of two stamps of the timer.
double findTimerStep(Steps steps) {
  std::vector<uint64_t> times;
  forEachBlock(steps, [&](const BlockStamps& block) { times.push_back(block.timerNs); });
  std::ranges::sort(times);
  uint64_t smallest = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (uint64_t difference = times[i] - times[i - 1]; difference > 0)
      smallest = smallest == 0 ? difference : std::min(smallest, difference);
  return static_cast<double>(smallest);
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

StepTimes summarizeStep(const std::vector<BlockStamps>& blocks, const ClockFit& fit) {
  StepTimes times;
  times.blocks = blocks.size();
  if (blocks.empty())
    return times;
  bool waits =
      std::ranges::any_of(blocks, [](const BlockStamps& block) { return block.waitClock != 0; });
  Range entry, work, exit;
  for (const BlockStamps& block : blocks) {
    entry.add(fit.timeNs(block, block.entryClock));
    if (waits && block.waitClock == 0)
      continue;
    work.add(fit.timeNs(block, waits ? block.waitClock : block.entryClock));
    exit.add(fit.timeNs(block, block.exitClock));
  }
  times.firstEntryNs = entry.first, times.lastEntryNs = entry.last;
  times.firstWorkNs = work.first, times.lastWorkNs = work.last;
  times.firstExitNs = exit.first, times.lastExitNs = exit.last;
  return times;
}

void shift(StepTimes& times, double ns) {
  for (double* time : {&times.firstEntryNs, &times.lastEntryNs, &times.firstWorkNs,
                       &times.lastWorkNs, &times.firstExitNs, &times.lastExitNs})
    *time += ns;
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
  TENON_ASSIGN_OR_RETURN(ClockFit fit, ClockFit::create(steps));
  StepTimeline timeline;
  timeline.clockGhz = 1 / fit.nsPerCycle;
  timeline.timerStepNs = findTimerStep(steps);
  timeline.fitErrorNs = fit.errorNs;
  double firstNs = std::numeric_limits<double>::infinity();
  for (const std::vector<BlockStamps>& blocks : steps) {
    timeline.steps.push_back(summarizeStep(blocks, fit));
    if (!blocks.empty())
      firstNs = std::min(firstNs, timeline.steps.back().firstEntryNs);
  }
  for (StepTimes& step : timeline.steps)
    if (step.blocks > 0)
      shift(step, -firstNs);
  findGaps(timeline);
  return timeline;
}

} // namespace tenon::runtime
