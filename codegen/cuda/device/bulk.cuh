// Bulk copies from global to shared memory, completed on barriers: sm_90 and later.
#pragma once
#include "memory.cuh"

namespace tenon {

__device__ __forceinline__ unsigned sharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// The number of the warp in its block, as a value that the compiler keeps once for all of the
/// warp's threads: addresses of bulk copies, which it otherwise sorts out thread by thread, are
/// made of it.
__device__ __forceinline__ int warpOfBlock() {
  return __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x) / 32, 0);
}

/// True for one thread of the warp, always the same one, all threads of which ask. Of what this
/// thread alone does the compiler knows that: bulk copies in a branch of another condition become a
/// loop over the threads that are there, of 70 cycles a copy.
__device__ __forceinline__ bool isElected() {
  unsigned elected;
  asm volatile("{\n"
               ".reg .pred chosen;\n"
               "elect.sync _|chosen, 0xFFFFFFFF;\n"
               "selp.u32 %0, 1, 0, chosen;\n"
               "}"
               : "=r"(elected));
  return elected != 0;
}

/// An mbarrier on which one thread arrives and bytes complete.
struct BulkBarrier {
  unsigned long long state;

  __device__ __forceinline__ void init() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(&state)));
  }
  /// For `count` threads that arrive with bytes each.
  __device__ __forceinline__ void init(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(&state)),
                 "r"(count));
  }
  /// Starts the copy of `bytes`, a multiple of 16, which are counted in.
  __device__ __forceinline__ void bring(void* target, const void* source, unsigned bytes,
                                        unsigned long long policy) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(sharedAddress(target)),
                 "l"(source), "r"(bytes), "r"(sharedAddress(&state)), "l"(policy)
                 : "memory");
  }
  /// Counts in `bytes` that copies, or stores of the cluster's blocks, will bring.
  __device__ __forceinline__ void expect(unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(&state)),
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

/// A ring of `stages` in shared memory that one warp fills and consumes in order, each of `batch`
/// pieces of at most `pieceBytes`, a multiple of 128: `pieceAt(i)` is its i-th piece.
template <int stages, int pieceBytes, int batch = 1> struct PieceRing {
  struct alignas(128) Shared {
    unsigned char bytes[stages][batch * pieceBytes];
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
        if (first * batch < pieces)
          issue(first, first, pieceAt);
    }
    __syncwarp();
  }
  /// Starts the copies that fill the ring after `start<early>`. All threads of the warp.
  template <int early, typename PieceAt> __device__ __forceinline__ void fill(PieceAt pieceAt) {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int next = early; next < stages; ++next)
        if (next * batch < pieces)
          issue(next, next, pieceAt);
    }
    __syncwarp();
  }
  /// Waits for the next batch; its pieces lie `pieceBytes` apart.
  __device__ __forceinline__ const unsigned char* take() {
    shared.barriers[stage].wait(parity);
    return shared.bytes[stage];
  }
  /// Says that all threads of the warp are done with batch `index`, the last one taken.
  template <typename PieceAt> __device__ __forceinline__ void release(int index, PieceAt pieceAt) {
    __syncwarp();
    if (threadIdx.x % 32 == 0 && (index + stages) * batch < pieces)
      issue(stage, index + stages, pieceAt);
    if (++stage == stages)
      stage = 0, parity ^= 1;
  }

private:
  template <typename PieceAt>
  __device__ __forceinline__ void issue(int target, int index, PieceAt pieceAt) {
    const int first = index * batch;
    Piece brought[batch];
    unsigned bytes = 0;
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i == 0 || first + i < pieces) {
        brought[i] = pieceAt(first + i);
        bytes += brought[i].bytes;
      }
    shared.barriers[target].expect(bytes);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (i == 0 || first + i < pieces)
        shared.barriers[target].bring(shared.bytes[target] + i * pieceBytes, brought[i].source,
                                      brought[i].bytes, policy);
  }
};

} // namespace tenon
