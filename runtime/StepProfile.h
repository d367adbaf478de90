#ifndef TENON_RUNTIME_STEPPROFILE_H
#define TENON_RUNTIME_STEPPROFILE_H

#include <cstdint>

namespace tenon::runtime {

/// Times of one step of a function over the calls made while profiling.
struct StepProfile {
  uint64_t calls = 0;
  uint64_t lastStartNs = 0; ///< of the last call's step, since that call's first step began
  uint64_t lastNs = 0;
  uint64_t minNs = 0;
  uint64_t totalNs = 0;

  /// Adds a call's step that began at `startNs` and took `ns`.
  void add(uint64_t startNs, uint64_t ns) {
    lastStartNs = startNs;
    minNs = calls == 0 || ns < minNs ? ns : minNs;
    lastNs = ns;
    totalNs += ns;
    ++calls;
  }
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_STEPPROFILE_H
