// Tiles of matrices that the copy engine brings into shared memory by tensor maps: sm_90 and later.
#pragma once
#include "bulk.cuh"

namespace tenon {

/// A matrix as cuTensorMapEncodeTiled of the driver describes it: where it lies, its shape, the box
/// that one copy brings. Elements outside the matrix arrive as zeros.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

__device__ __forceinline__ void prefetch(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts the copy of the map's box at (row, column); its bytes complete on `barrier`, which
/// expects them.
__device__ __forceinline__ void bringBox(void* target, const TensorMap& map, int row, int column,
                                         BulkBarrier& barrier, unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(sharedAddress(target)),
      "l"(&map), "r"(column), "r"(row), "r"(sharedAddress(&barrier.state)), "l"(policy)
      : "memory");
}
/// The same for each block of the cluster in `blocks`, a bit a rank: the box and its completion
/// arrive at the same places of their shared memory.
__device__ __forceinline__ void bringBox(void* target, const TensorMap& map, int row, int column,
                                         BulkBarrier& barrier, unsigned long long policy,
                                         unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %6, %5;" ::"r"(
                   sharedAddress(target)),
               "l"(&map), "r"(column), "r"(row), "r"(sharedAddress(&barrier.state)), "l"(policy),
               "h"(blocks)
               : "memory");
}

/// Makes a thread's stores to shared memory visible to copies out of it that start after a
/// barrier.
__device__ __forceinline__ void fenceCopies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Starts the copy of a box at `source` to (row, column) of the map's matrix; what lies outside the
/// matrix is left out.
__device__ __forceinline__ void sendBox(const TensorMap& map, const void* source, int row,
                                        int column) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n"
               "cp.async.bulk.commit_group;" ::"l"(&map),
               "r"(column), "r"(row), "r"(sharedAddress(source))
               : "memory");
}
/// Until all but the last `pending` boxes that this thread sent have been read.
template <int pending> __device__ __forceinline__ void waitForReads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// Until all of them have been written.
__device__ __forceinline__ void waitForWrites() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// An mbarrier on which `count` arrivals complete a phase: those of consumers that are done with a
/// stage.
struct ReleaseBarrier {
  unsigned long long state;

  __device__ __forceinline__ void init(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(&state)),
                 "r"(count));
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(&state))
                 : "memory");
  }
  /// Arrives at the same barrier of block `rank` of the cluster.
  __device__ __forceinline__ void arriveIn(unsigned rank) {
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(sharedAddress(&state)),
                 "r"(rank)
                 : "memory");
  }
  /// Waits for the end of phase `parity`.
  __device__ __forceinline__ void wait(unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "AGAIN_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN_%=;\n"
                 "}" ::"r"(sharedAddress(&state)),
                 "r"(parity)
                 : "memory");
  }
};

/// All threads of all blocks of the cluster, which orders no stores but those of barriers' initial
/// states before fenceBarriers().
__device__ __forceinline__ void meetCluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

} // namespace tenon
