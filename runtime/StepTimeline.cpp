#include "runtime/StepTimeline.h"

#include <algorithm>
#include <limits>
#include <map>
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
  forEachBlock(steps, [&](const BlockStamps& block) { times.push_back(block.timerNs); });
  std::ranges::sort(times);
  uint64_t smallest = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (uint64_t difference = times[i] - times[i - 1]; difference > 0)
      smallest = smallest == 0 ? difference : std::min(smallest, difference);
  return static_cast<double>(smallest);
}

/// The first and the last entry of a block on one multiprocessor.
struct Multiprocessor {
  BlockStamps first, last;

  double ns() const { return static_cast<double>(last.timerNs - first.timerNs); }
  double cycles() const { return static_cast<double>(last.entryClock - first.entryClock); }
};

/// How long the cycles of each multiprocessor are.
class Clocks {
public:
  static absl::StatusOr<Clocks> create(Steps steps, double timerStepNs);

  /// When `clock` was, in ns since the earliest stamp of the timer.
  double timeNs(const BlockStamps& block, uint64_t clock) const {
    return static_cast<double>(block.timerNs - firstTimerNs) +
           nsPerCycle.at(block.multiprocessor) * static_cast<double>(clock - block.entryClock);
  }

  double commonNsPerCycle = 0;
  double spread = 0; ///< of the lengths, over the common one

private:
  uint64_t firstTimerNs = std::numeric_limits<uint64_t>::max();
  std::map<uint64_t, double> nsPerCycle;
};

absl::StatusOr<Clocks> Clocks::create(Steps steps, double timerStepNs) {
  Clocks clocks;
  std::map<uint64_t, Multiprocessor> seen;
  forEachBlock(steps, [&](const BlockStamps& block) {
    clocks.firstTimerNs = std::min(clocks.firstTimerNs, block.timerNs);
    Multiprocessor& own = seen.try_emplace(block.multiprocessor, block, block).first->second;
    if (block.entryClock < own.first.entryClock)
      own.first = block;
    if (block.entryClock > own.last.entryClock)
      own.last = block;
  });
  double ns = 0, cycles = 0;
  for (const auto& [number, own] : seen)
    ns += own.ns(), cycles += own.cycles();
  if (ns <= 0 || cycles <= 0)
    return absl::FailedPreconditionError(
        "expects a multiprocessor that runs blocks at different times of the device's timer, which "
        "says how long its cycles are, but found none");
  clocks.commonNsPerCycle = ns / cycles;
  constexpr double leastTimerSteps = 1'000; // so that a step is 0.1 % of them
  double shortest = clocks.commonNsPerCycle, longest = shortest;
  for (const auto& [number, own] : seen) {
    bool isLong = own.cycles() > 0 && own.ns() >= leastTimerSteps * timerStepNs;
    double length = isLong ? own.ns() / own.cycles() : clocks.commonNsPerCycle;
    clocks.nsPerCycle[number] = length;
    shortest = std::min(shortest, length), longest = std::max(longest, length);
  }
  clocks.spread = (longest - shortest) / clocks.commonNsPerCycle;
  return clocks;
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

/// The first and the last of some times.
struct Range {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();

  void add(double time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

StepTimes summarizeStep(const std::vector<BlockStamps>& blocks, const Clocks& clocks) {
  StepTimes times;
  times.blocks = blocks.size();
  if (blocks.empty())
    return times;
  bool waits =
      std::ranges::any_of(blocks, [](const BlockStamps& block) { return block.waitClock != 0; });
  Range entry, work, exit;
  for (const BlockStamps& block : blocks) {
    entry.add(clocks.timeNs(block, block.entryClock));
    if (waits && block.waitClock == 0)
      continue;
    work.add(clocks.timeNs(block, waits ? block.waitClock : block.entryClock));
    exit.add(clocks.timeNs(block, block.exitClock));
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
  StepTimeline timeline;
  timeline.timerStepNs = findTimerStep(steps);
  TENON_ASSIGN_OR_RETURN(Clocks clocks, Clocks::create(steps, timeline.timerStepNs));
  timeline.clockGhz = 1 / clocks.commonNsPerCycle;
  timeline.clockSpread = clocks.spread;
  double firstNs = std::numeric_limits<double>::infinity();
  for (const std::vector<BlockStamps>& blocks : steps) {
    timeline.steps.push_back(summarizeStep(blocks, clocks));
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
