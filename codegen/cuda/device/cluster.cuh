// Parts of a sum that the blocks of a cluster exchange through shared memory: sm_90 and later.
#pragma once
#include "bulk.cuh"
#include "decode_combine.cuh"

namespace tenon {

/// An address of this block's shared memory as block `rank` of the cluster has it.
__device__ __forceinline__ unsigned addressIn(unsigned rank, const void* pointer) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(sharedAddress(pointer)), "r"(rank));
  return address;
}

/// Stores in another block's shared memory, counted as bytes on a barrier beside them.
__device__ __forceinline__ void storeAsync(unsigned target, float4 v, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(target),
      "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void storeAsync(unsigned target, float2 v, unsigned barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, "
               "[%3];" ::"r"(target),
               "f"(v.x), "f"(v.y), "r"(barrier)
               : "memory");
}

/// Parts that the first blocks of a cluster, part i of block i, exchange through shared memory:
/// each block gets one run of all vectors, of every part, and stores the results of that run.
/// Blocks after the parts have exited.
///
/// Which vectors go where is computed when a block opens, while it waits for the kernel before it.
template <int heads, int valueSize, int splits, int threads> struct ClusterExchange {
  static constexpr int headVectors = valueSize / 4, vectors = heads * headVectors;
  static constexpr int stride = 2 * heads;

  struct alignas(16) Shared {
    float4 sums[vectors + splits]; // [part][vector of the run]
    float2 stats[splits][heads];   // largest, total
    BulkBarrier arrived;
    int run;     // vectors of a block, of the last one maybe fewer
    int inverse; // of `run`, times 2^20, rounded up: exact for quotients of at most 512 vectors
  };

  Shared& shared;

  /// Before any block may send: part `part` of `parts` > 1. The fence lets others see the barrier,
  /// the only thing of this block that they use, so that arriving need not; `released`: it does,
  /// which takes until memory has answered all threads of the block.
  template <bool released> __device__ __forceinline__ void open(int part, int parts) {
    static_assert(vectors <= 512, "2^20 is more than any vector times any rest");
    if (threadIdx.x == 0) {
      const int run = (vectors + parts - 1) / parts;
      shared.run = run, shared.inverse = ((1 << 20) + run - 1) / run;
      shared.arrived.init();
      fenceBarriers();
      const int count = min((part + 1) * run, vectors) - part * run;
      if (count > 0)
        shared.arrived.expect(parts * (count * sizeof(float4) + heads * sizeof(float2)));
    }
    if constexpr (released)
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    else
      asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  /// Until every block has opened.
  __device__ __forceinline__ void waitForOthers() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  __device__ __forceinline__ void leave(int part, int parts, int i, const CombinedSums& own) {
    const int run = shared.run, target = i * shared.inverse >> 20;
    storeAsync(addressIn(target, &shared.sums[(part - target) * run + i]), own.sums,
               addressIn(target, &shared.arrived));
    const int h = i / headVectors;
#pragma unroll 1
    for (int block = i % headVectors; block * run < vectors && block < parts; block += headVectors)
      storeAsync(addressIn(block, &shared.stats[part][h]), float2{own.largest, own.total},
                 addressIn(block, &shared.arrived));
  }
  __device__ __forceinline__ bool collect(int part, int parts) {
    if (first(part, parts) >= behind(part, parts))
      return false;
    shared.arrived.waitForCluster(0);
    return true;
  }
  __device__ __forceinline__ int first(int part, int parts) const {
    return min(part * shared.run, vectors);
  }
  __device__ __forceinline__ int behind(int part, int parts) const {
    return min((part + 1) * shared.run, vectors);
  }
  __device__ __forceinline__ const float* largestOf(int h) const { return &shared.stats[0][h].x; }
  __device__ __forceinline__ const float* totalOf(int h) const { return &shared.stats[0][h].y; }
  __device__ __forceinline__ float4 sumsOf(int part, int, int i) const {
    const int run = shared.run, place = i - (i * shared.inverse >> 20) * run;
    return shared.sums[part * run + place];
  }
};

} // namespace tenon
