// Products on tensor cores: mma.sync m16n8k16, m16n8k8 with 16-bit factors and f32 sums (sm_80 and
// later).
#pragma once
#include "memory.cuh"

namespace tenon {

template <typename T>
__device__ __forceinline__ void multiplyAdd(float (&sums)[4], const unsigned (&a)[4],
                                            const unsigned (&b)[2]);
template <>
__device__ __forceinline__ void multiplyAdd<F16>(float (&d)[4], const unsigned (&a)[4],
                                                 const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void multiplyAdd<BF16>(float (&d)[4], const unsigned (&a)[4],
                                                  const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Of sums that are 0 so far.
template <typename T>
__device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]);
template <>
__device__ __forceinline__ void multiply<F16>(float (&d)[4], const unsigned (&a)[4],
                                              const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}
template <>
__device__ __forceinline__ void multiply<BF16>(float (&d)[4], const unsigned (&a)[4],
                                               const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%10,%10,%10,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

/// The same of a depth of 8 instead of 16.
template <typename T>
__device__ __forceinline__ void multiplyAdd(float (&sums)[4], const unsigned (&a)[2], unsigned b);
template <>
__device__ __forceinline__ void multiplyAdd<F16>(float (&d)[4], const unsigned (&a)[2],
                                                 unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}
template <>
__device__ __forceinline__ void multiplyAdd<BF16>(float (&d)[4], const unsigned (&a)[2],
                                                  unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

/// Four 8 x 8 matrices of 16-bit elements; thread l gives the address of row l % 8 of matrix l / 8,
/// in shared memory.
__device__ __forceinline__ void loadMatrices(unsigned (&r)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}
__device__ __forceinline__ void loadMatrices(unsigned (&r)[4], const void* row) {
  loadMatrices(r, static_cast<unsigned>(__cvta_generic_to_shared(row)));
}

/// 16 bytes from global to shared memory, zeros where not `exists`.
__device__ __forceinline__ void copyAsync(unsigned target, const void* source, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
               "r"(exists ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copyAsync(void* target, const void* source, bool exists) {
  copyAsync(static_cast<unsigned>(__cvta_generic_to_shared(target)), source, exists);
}

/// The same of runs that other copies bring the rest of, under a policy of the L2 cache: memory is
/// read 256 bytes at a time. `target` is an address in shared memory.
__device__ __forceinline__ void copyRun(unsigned target, const void* source, bool exists,
                                        unsigned long long policy) {
  asm volatile(
      "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], 16, %2, %3;" ::"r"(target),
      "l"(source), "r"(exists ? 16 : 0), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void copyRun(void* target, const void* source, bool exists,
                                        unsigned long long policy) {
  copyRun(static_cast<unsigned>(__cvta_generic_to_shared(target)), source, exists, policy);
}

/// 4 bytes, at any multiples of 4, of such runs.
__device__ __forceinline__ void copyRunWord(unsigned target, const void* source) {
  asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], 4;" ::"r"(target), "l"(source)
               : "memory");
}

/// A block of 256 threads computes tileRows x 128 of y = x * W^T, `tileRows` 64 or 128: a ring of
/// three stages of 32 elements of the depth, filled by asynchronous copies; 2 x 4 warps. A stage
/// has the rows of x, then those of W, of `pitch` elements, so that ldmatrix meets no bank twice.
template <typename T, int tileRows> struct TensorGemm {
  static constexpr int tileColumns = 128, depth = 32, stages = 3, pitch = depth + 8;
  static constexpr int rowTiles = tileRows / 32, columnTiles = 4; // of 16 x 8, in a warp
  /// A thread copies 8 elements of every 64th row.
  static constexpr int copiedRows = 64, ofX = tileRows / copiedRows,
                       copies = ofX + tileColumns / copiedRows;
  static constexpr unsigned rowBytes = pitch * sizeof(T),
                            stageBytes = (tileRows + tileColumns) * rowBytes,
                            ringBytes = stages * stageBytes;

  unsigned ring; ///< its address in shared memory
  const T* sources[copies];
  int left; ///< elements from the thread's column of the next stage to the end of the rows
  float sums[rowTiles][columnTiles][4] = {};

  __device__ __forceinline__ explicit TensorGemm(void* memory)
      : ring(static_cast<unsigned>(__cvta_generic_to_shared(memory))) {}

  /// The thread's part of the next stage, whose place in the ring begins at byte `stage`, or the
  /// first `count` copies of it; zeros after the end of the rows.
  template <int count = copies> __device__ __forceinline__ void fetch(unsigned stage) {
    const unsigned target =
        ring + stage + threadIdx.x / 4 * rowBytes + threadIdx.x % 4 * 8 * sizeof(T);
#pragma unroll
    for (int i = 0; i < count; ++i)
      copyAsync(target + i * copiedRows * rowBytes, sources[i], left > 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const int step = left > depth ? depth : 0;
#pragma unroll
    for (int i = 0; i < count; ++i)
      sources[i] += step;
    left -= depth;
  }

  __device__ __forceinline__ void multiplyStage(unsigned stage) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned x = ring + stage + (warp / 4 * (tileRows / 2) + lane % 16) * rowBytes +
                       lane / 16 * 8 * sizeof(T);
    const unsigned w = ring + stage +
                       (tileRows + warp % 4 * 32 + lane % 8 + lane / 16 * 8) * rowBytes +
                       lane / 8 % 2 * 8 * sizeof(T);
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      unsigned b[2][4];
#pragma unroll
      for (int j = 0; j < 2; ++j)
        loadMatrices(b[j], w + 16 * j * rowBytes + k * sizeof(T));
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
        unsigned a[4];
        loadMatrices(a, x + 16 * i * rowBytes + k * sizeof(T));
#pragma unroll
        for (int j = 0; j < columnTiles; ++j)
          multiplyAdd<T>(sums[i][j], a, {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]});
      }
    }
  }

  /// x [m, length], w [n, length]; the tile starts at row `firstRow`, column `firstColumn` of y.
  /// Rows outside repeat the last one.
  __device__ __forceinline__ void multiply(const T* x, const T* w, long long m, long long n,
                                           int length, long long firstRow, long long firstColumn) {
    const int column = threadIdx.x % 4 * 8;
    left = length - column;
#pragma unroll
    for (int i = 0; i < copies; ++i) {
      const long long row =
          (i < ofX ? firstRow + i * copiedRows : firstColumn + (i - ofX) * copiedRows) +
          threadIdx.x / 4;
      sources[i] = (i < ofX ? x + min(row, m - 1) * length : w + min(row, n - 1) * length) +
                   (left > 0 ? column : 0);
    }
    auto after = [](unsigned stage) {
      return stage == ringBytes - stageBytes ? 0 : stage + stageBytes;
    };
    for (int stage = 0; stage < stages - 1; ++stage)
      fetch(stage * stageBytes);
    unsigned read = 0, written = (stages - 1) * stageBytes;
    for (int k = 0; k < length; k += depth) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
      __syncthreads();
      fetch(written);
      multiplyStage(read);
      written = read;
      read = after(read);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
};

} // namespace tenon
