#ifndef TENON_RUNTIME_CPU_SHARINGPOLICY_H
#define TENON_RUNTIME_CPU_SHARINGPOLICY_H

#include <chrono>
#include <cstdint>

namespace tenon::runtime {

/// Decides whether a thread pool shares its loops among all threads or its caller works alone, because
/// other work wants the cores; see docs/decisions/0001-spinning-thread-pool.md.
///
/// The caller begins alone. Once its loops took long enough for sharing to gain, and it kept its core,
/// there is a trial: the caller still works alone for `trialLength`, and the other threads only spin. If
/// all of them kept their cores for the most part, loops are shared until more is lost than gained. Then
/// the caller works alone, and once it kept its core for long enough, there is another trial.
class SharingPolicy {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  using Duration = std::chrono::nanoseconds;
  /// What the system counts of a thread.
  struct Usage {
    Duration processorTime;
    int64_t sleeps; ///< how often it gave up its core to wait for something
  };
  using ReadUsage = Usage (*)();

  enum class Mode { Alone, Trial, Shared };

  static constexpr std::chrono::milliseconds trialLength{10};

  /// `usageOfCaller` is read where something that is watched begins or ends, every 4 ms at most; what
  /// the caller does before the first loop is watched, too. Null: there are no trials, and loops are
  /// shared at once.
  SharingPolicy(int threads, ReadUsage usageOfCaller, Time now);

  Mode mode() const { return current; }

  /// Says, before the caller works on a loop or a part of one, how it is to work. A trial begins where
  /// the mode becomes Trial, and ends by `endTrial`.
  Mode begin(Time now);
  /// After a piece of a loop on which the caller worked alone; some of the loops are enough.
  void noteAlone(Duration worked, bool isFirstOfLoop);
  /// `lostByWorkers`: what the other threads were without their cores, in cores: 0.5 is one thread for
  /// half of the trial.
  void endTrial(Time now, double lostByWorkers);

  /// After a shared loop, or the shared rest of one: the caller worked, then it waited for others.
  /// `isAbsent`: no other thread began a piece.
  void noteShared(Duration worked, Duration waited, bool isAbsent, Time now);

private:
  void restartWatch(Time now);
  double lostByCaller(Time now) const;
  bool gainsBySharing() const;
  void share(Time now);
  void workAlone(Time now);

  const int threads;
  const ReadUsage usageOfCaller;
  Mode current;
  // Of the caller while it works alone.
  Time watchStart;
  Usage usageAtStart = {};
  Duration loopTime = {}; ///< of `loops` since `watchStart`
  int64_t loops = 0;
  Time aloneUntil = {};
  Duration alone = {};   ///< how long it works alone after a failure
  Time sharedSince = {}; ///< where loops are shared
  Duration absence = {}; ///< of loops, one after the other, of which the caller did all
  Duration lost = {};    ///< in waiting, less what was gained by sharing
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_SHARINGPOLICY_H
