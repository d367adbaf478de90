// When a block starts, passes its wait and ends: for kernels that are compiled to say so.
#pragma once

namespace tenon {

/// What a block leaves in global memory, zeros before it starts; `runtime::BlockStamps` is the same.
struct BlockStamps {
  unsigned long long timerNs;        // %globaltimer at the entry
  unsigned long long entryClock;     // %clock64 of the multiprocessor, as the other clocks
  unsigned long long waitClock;      // 0 where the block leaves without waiting
  unsigned long long exitClock;      // of the warp that ends last
  unsigned long long multiprocessor; // %smid
};

__device__ __forceinline__ unsigned long long readClock() {
  unsigned long long clock;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
  return clock;
}

/// The timer's steps may be as long as a kernel (PTX ISA: they depend on the device), those of the
/// clock are not; read together they tie a multiprocessor's clock to the timer that all share.
__device__ __forceinline__ void stampEntry(BlockStamps& stamps) {
  if (threadIdx.x != 0)
    return;
  const unsigned long long clock = readClock();
  unsigned long long timer;
  unsigned multiprocessor;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer)::"memory");
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  stamps.timerNs = timer;
  stamps.entryClock = clock;
  stamps.multiprocessor = multiprocessor;
}

__device__ __forceinline__ void stampWait(BlockStamps& stamps) {
  if (threadIdx.x == 0)
    stamps.waitClock = readClock();
}

/// Every warp comes here, wherever it left the body.
__device__ __forceinline__ void stampExit(BlockStamps& stamps) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    atomicMax(&stamps.exitClock, readClock());
}

} // namespace tenon
