#ifndef TENON_RUNTIME_BLOCKSTAMPS_H
#define TENON_RUNTIME_BLOCKSTAMPS_H

#include <cstdint>

namespace tenon::runtime {

/// What a block of a kernel that stamps (`CudaLaunch::stamps`) leaves in device memory, which is zero
/// before: what the device's timer said, the same for all multiprocessors. Its steps depend on the device
/// (32 ns on an H200).
struct BlockStamps {
  uint64_t entryNs = 0;
  uint64_t waitNs = 0; ///< past the wait for the step before; 0 where the block did not wait
  uint64_t exitNs = 0; ///< when the last of the block's warps ended

  bool operator==(const BlockStamps&) const = default;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_BLOCKSTAMPS_H
