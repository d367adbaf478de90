// Bulk copies from global to shared memory, completed on barriers: sm_90 and later.
#pragma once

namespace tenon {

__device__ __forceinline__ unsigned sharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// An mbarrier on which one thread arrives and bytes complete.
struct BulkBarrier {
  unsigned long long state;

  __device__ __forceinline__ void init() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(&state)));
  }
  /// Starts the copy of `bytes`, a multiple of 16, and counts them in; read once, so first to leave
  /// the L2 cache.
  __device__ __forceinline__ void copy(void* target, const void* source, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     sharedAddress(&state)),
                 "r"(bytes)
                 : "memory");
    asm volatile("{\n"
                 ".reg .b64 policy;\n"
                 "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], policy;\n"
                 "}" ::"r"(sharedAddress(target)),
                 "l"(source), "r"(bytes), "r"(sharedAddress(&state))
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

/// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void fenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// A ring of `stages` pieces in shared memory that one warp fills and consumes: rows of `pieces`
/// pieces of `pieceBytes`, the last one of `lastBytes`, from wherever `rowAt(i)`, the address of the
/// i-th row of this warp, says.
template <int stages, int pieces, int pieceBytes, int lastBytes> struct RowRing {
  struct Shared {
    unsigned char bytes[stages][(pieceBytes + 127) / 128 * 128];
    BulkBarrier barriers[stages];
  };

  Shared& shared;
  int items; ///< rows times pieces

  template <typename RowAt> __device__ __forceinline__ void issue(int item, RowAt rowAt) {
    const int piece = item % pieces, stage = item % stages;
    shared.barriers[stage].copy(shared.bytes[stage], rowAt(item / pieces) + piece * pieceBytes,
                                piece == pieces - 1 ? lastBytes : pieceBytes);
  }
  /// Starts the first copies. All threads of the warp.
  template <typename RowAt> __device__ __forceinline__ void start(RowAt rowAt) {
    if (threadIdx.x % 32 == 0) {
      for (int stage = 0; stage < stages; ++stage)
        shared.barriers[stage].init();
      fenceBarriers();
      for (int item = 0; item < stages && item < items; ++item)
        issue(item, rowAt);
    }
    __syncwarp();
  }
  /// Waits for item `item`.
  __device__ __forceinline__ const unsigned char* take(int item) {
    shared.barriers[item % stages].wait(item / stages % 2);
    return shared.bytes[item % stages];
  }
  /// Says that all threads of the warp are done with item `item`.
  template <typename RowAt> __device__ __forceinline__ void release(int item, RowAt rowAt) {
    __syncwarp();
    if (threadIdx.x % 32 == 0 && item + stages < items)
      issue(item + stages, rowAt);
  }
};

} // namespace tenon
