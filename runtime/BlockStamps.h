#ifndef TENON_RUNTIME_BLOCKSTAMPS_H
#define TENON_RUNTIME_BLOCKSTAMPS_H

#include <cstdint>

namespace tenon::runtime {

/// What a block of a kernel that stamps (`CudaLaunch::stamps`) leaves in device memory, which is zero
/// before. Clocks are cycles of the block's multiprocessor; those of two do not compare.
struct BlockStamps {
  uint64_t timerNs = 0;    ///< the device's timer at the entry; its steps may be long
  uint64_t entryClock = 0; ///< at the same moment
  uint64_t waitClock = 0;  ///< past the wait for the step before; 0 where the block did not wait
  uint64_t exitClock = 0;  ///< when the last of the block's warps ended
  uint64_t multiprocessor = 0;

  bool operator==(const BlockStamps&) const = default;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_BLOCKSTAMPS_H
