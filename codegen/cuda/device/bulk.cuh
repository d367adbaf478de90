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

/// A ring of `stages` pieces in shared memory that one warp fills and consumes: rows of a table,
/// each in `pieces` pieces of `pieceBytes`, the last one of `lastBytes`.
template <int stages, int pieces, int pieceBytes, int lastBytes> struct RowRing {
  struct Shared {
    unsigned char bytes[stages][(pieceBytes + 127) / 128 * 128];
    BulkBarrier barriers[stages];
  };

  Shared& shared;
  const unsigned char* table;
  int firstRow, rowStep, items; ///< rows firstRow, firstRow + rowStep, ...

  __device__ __forceinline__ void issue(int item) {
    const long long row = firstRow + static_cast<long long>(item / pieces) * rowStep;
    const int piece = item % pieces, stage = item % stages;
    const long long rowBytes = (pieces - 1LL) * pieceBytes + lastBytes;
    shared.barriers[stage].copy(shared.bytes[stage], table + row * rowBytes + piece * pieceBytes,
                                piece == pieces - 1 ? lastBytes : pieceBytes);
  }
  /// Starts the first copies. All threads of the warp.
  __device__ __forceinline__ void start() {
    if (threadIdx.x % 32 == 0) {
      for (int stage = 0; stage < stages; ++stage)
        shared.barriers[stage].init();
      fenceBarriers();
      for (int item = 0; item < stages && item < items; ++item)
        issue(item);
    }
    __syncwarp();
  }
  /// Waits for item `item`.
  __device__ __forceinline__ const unsigned char* take(int item) {
    shared.barriers[item % stages].wait(item / stages % 2);
    return shared.bytes[item % stages];
  }
  /// Says that all threads of the warp are done with item `item`.
  __device__ __forceinline__ void release(int item) {
    __syncwarp();
    if (threadIdx.x % 32 == 0 && item + stages < items)
      issue(item + stages);
  }
};

} // namespace tenon
