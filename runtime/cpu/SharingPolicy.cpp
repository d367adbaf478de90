#include "runtime/cpu/SharingPolicy.h"

#include <algorithm>

namespace tenon::runtime {

// Who waits at most so long may have waited for a thread to wake up, which takes some tens of µs. The
// least slice of Linux' scheduler, for which a worker that has lost its core is away, is 0.7 ms.
static constexpr std::chrono::microseconds mostDelay(100);
// The caller works alone once it has lost so much, net of half the time of its own work: alone it would
// take twice that, but beside other work its core would be its own for longer. What was gained before
// is set against a loss as far as `mostGained`, so that a quiet machine may stumble now and then.
static constexpr std::chrono::microseconds mostLost(500);
static constexpr std::chrono::milliseconds mostGained(5);
static constexpr std::chrono::milliseconds mostAbsence(4);

/// What threads may be without their cores, of all their time. Who shares its core with one other
/// thread is without it for half of the time.
static constexpr double mostLostShare = 1.0 / 8;
static constexpr std::chrono::milliseconds leastWatch(4);
/// Of the loops of a while, on average: two threads gain half of it less the barrier of 0.24 µs, a
/// fifth of it from 0.8 µs on.
static constexpr std::chrono::nanoseconds leastLoop(800);
static constexpr std::chrono::milliseconds leastAlone(64), mostAlone(1000);

SharingPolicy::SharingPolicy(int threads, ReadUsage usageOfCaller, Time now)
    : threads(threads), usageOfCaller(usageOfCaller),
      current(usageOfCaller ? Mode::Alone : Mode::Shared) {
  restartWatch(now);
}

void SharingPolicy::restartWatch(Time now) {
  watchStart = now;
  loopTime = {};
  loops = 0;
  if (usageOfCaller)
    usageAtStart = usageOfCaller();
}

/// What the caller was without its core since `watchStart`, as a share of the time. Nothing is known,
/// and 0 is the result, where it slept, between loops or until what it reads came from a file, and where
/// the time is shorter than slices of the scheduler are.
double SharingPolicy::lostByCaller(Time now) const {
  if (!usageOfCaller || now - watchStart < leastWatch)
    return 0;
  Usage usage = usageOfCaller();
  if (usage.sleeps != usageAtStart.sleeps)
    return 0;
  std::chrono::duration<double> used = usage.processorTime - usageAtStart.processorTime;
  return std::max(0.0, 1 - used / (now - watchStart));
}

void SharingPolicy::noteAlone(Duration worked, bool isFirstOfLoop) {
  loopTime += worked;
  loops += isFirstOfLoop;
}

bool SharingPolicy::gainsBySharing() const { return loops > 0 && loopTime >= loops * leastLoop; }

SharingPolicy::Mode SharingPolicy::begin(Time now) {
  bool isDue = now >= aloneUntil;
  if (current != Mode::Alone || now < watchStart + (isDue ? leastWatch : trialLength))
    return current;
  if (lostByCaller(now) > mostLostShare)
    aloneUntil = now + std::max<Duration>(alone, leastAlone);
  else if (isDue && !usageOfCaller)
    share(now);
  else if (isDue && gainsBySharing())
    current = Mode::Trial;
  restartWatch(now);
  return current;
}

void SharingPolicy::endTrial(Time now, double lostByWorkers) {
  if (lostByCaller(now) + lostByWorkers > mostLostShare * threads)
    workAlone(now);
  else
    share(now);
}

void SharingPolicy::share(Time now) {
  current = Mode::Shared;
  sharedSince = now;
  lost = absence = {};
}

void SharingPolicy::workAlone(Time now) {
  bool isSoon = current == Mode::Trial || now - sharedSince < alone;
  alone = std::clamp<Duration>(isSoon ? 2 * alone : Duration(), leastAlone, mostAlone);
  aloneUntil = now + alone;
  current = Mode::Alone;
  restartWatch(now);
}

void SharingPolicy::noteShared(Duration worked, Duration waited, bool isAbsent, Time now) {
  if (waited > mostDelay)
    lost += waited;
  lost = std::max<Duration>(lost - worked / 2, -mostGained);
  absence = isAbsent ? absence + worked + waited : Duration();
  if (lost >= mostLost || absence >= mostAbsence)
    workAlone(now);
}

} // namespace tenon::runtime
