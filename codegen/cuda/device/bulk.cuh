// Bulk copies from global to shared memory, completed on barriers: sm_90 and later.
#pragma once
#include "memory.cuh"

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
  /// Starts the copy of `bytes`, a multiple of 16, which are counted in.
  __device__ __forceinline__ void bring(void* target, const void* source, unsigned bytes,
                                        unsigned long long policy) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(sharedAddress(target)),
                 "l"(source), "r"(bytes), "r"(sharedAddress(&state)), "l"(policy)
                 : "memory");
  }
  /// Counts them in and starts the copy.
  __device__ __forceinline__ void copy(void* target, const void* source, unsigned bytes,
                                       unsigned long long policy) {
    expect(bytes);
    bring(target, source, bytes, policy);
  }
  /// Counts in `bytes` that copies, or stores of the cluster's blocks, will bring.
  __device__ __forceinline__ void expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     sharedAddress(&state)),
                 "r"(bytes)
                 : "memory");
  }
  /// Waits for the end of phase `parity`, and for what other blocks have stored before it.
  __device__ __forceinline__ void waitForCluster(unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "AGAIN_%=:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN_%=;\n"
                 "}" ::"r"(sharedAddress(&state)),
                 "r"(parity)
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

/// Some bytes in global memory, a multiple of 16.
struct Piece {
  const unsigned char* source;
  unsigned bytes;
};

/// A ring of `stages` pieces of at most `stageBytes`, a multiple of 128, in shared memory that one
/// warp fills and consumes in order: `pieceAt(i)` is its i-th piece.
template <int stages, int stageBytes> struct PieceRing {
  struct alignas(128) Shared {
    unsigned char bytes[stages][stageBytes];
    BulkBarrier barriers[stages];
  };

  Shared& shared;
  const int pieces;
  int stage = 0;       ///< of the next piece
  unsigned parity = 0; ///< of its barrier
  unsigned long long policy = evictFirst();

  __device__ __forceinline__ PieceRing(Shared& shared, int pieces)
      : shared(shared), pieces(pieces) {}

  /// Starts the first `early` copies. All threads of the warp.
  template <int early = stages, typename PieceAt>
  __device__ __forceinline__ void start(PieceAt pieceAt) {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int first = 0; first < stages; ++first)
        shared.barriers[first].init();
      fenceBarriers();
#pragma unroll
      for (int first = 0; first < early; ++first)
        if (first < pieces)
          issue(first, pieceAt(first));
    }
    __syncwarp();
  }
  /// Starts the copies that fill the ring behind `start<early>`. All threads of the warp.
  template <int early, typename PieceAt> __device__ __forceinline__ void fill(PieceAt pieceAt) {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int next = early; next < stages; ++next)
        if (next < pieces)
          issue(next, pieceAt(next));
    }
    __syncwarp();
  }
  /// Waits for the next piece.
  __device__ __forceinline__ const unsigned char* take() {
    shared.barriers[stage].wait(parity);
    return shared.bytes[stage];
  }
  /// Says that all threads of the warp are done with piece `index`, the last one taken.
  template <typename PieceAt> __device__ __forceinline__ void release(int index, PieceAt pieceAt) {
    __syncwarp();
    if (threadIdx.x % 32 == 0 && index + stages < pieces)
      issue(stage, pieceAt(index + stages));
    if (++stage == stages)
      stage = 0, parity ^= 1;
  }

private:
  __device__ __forceinline__ void issue(int target, Piece piece) {
    shared.barriers[target].copy(shared.bytes[target], piece.source, piece.bytes, policy);
  }
};

} // namespace tenon
