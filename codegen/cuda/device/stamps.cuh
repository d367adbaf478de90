// When a block starts, passes its wait and ends: for kernels that are compiled to say so.
#pragma once

namespace tenon {

/// What a block leaves in global memory, zeros before it starts; `runtime::BlockStamps` is the
/// same.
struct BlockStamps {
  unsigned long long entryNs;
  unsigned long long waitNs; // 0 where the block leaves without waiting
  unsigned long long exitNs; // of the warp that ends last
};

/// The timer that all multiprocessors share. Their own clocks, which step each cycle, do not stand
/// in for it: with one speed for all or one for each, steps on an H200 overlapped by 0.1 to 7 us.
__device__ __forceinline__ unsigned long long readTimer() {
  unsigned long long timer;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer)::"memory");
  return timer;
}

__device__ __forceinline__ void stampEntry(BlockStamps& stamps) {
  if (threadIdx.x == 0)
    stamps.entryNs = readTimer();
}

__device__ __forceinline__ void stampWait(BlockStamps& stamps) {
  if (threadIdx.x == 0)
    stamps.waitNs = readTimer();
}

/// Every warp comes here, wherever it left the body.
__device__ __forceinline__ void stampExit(BlockStamps& stamps) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    atomicMax(&stamps.exitNs, readTimer());
}

} // namespace tenon
