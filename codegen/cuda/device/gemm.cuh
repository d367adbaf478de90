// y = x * W^T on CUDA cores: any element types, one accumulator an output, added in ascending k.
#pragma once
#include "blocks.cuh"

namespace tenon {

/// A block of 256 threads computes a tile x tile tile of y, 16, 32 or 64; thread (i, j) has
/// `ofThread` x `ofThread` of it. X, W: element types; `width`: elements that are loaded at once, a
/// power of two up to 8 that divides k.
template <typename X, typename W, int width, int tile> struct TiledGemm {
  static constexpr int depth = 16, ofThread = tile / 16;
  struct Shared {
    float x[depth][tile + 4], w[depth][tile + 4];
  };

  Shared& shared;
  float sums[ofThread][ofThread];

  __device__ __forceinline__ explicit TiledGemm(Shared& memory) : shared(memory) {
#pragma unroll
    for (int i = 0; i < ofThread; ++i)
#pragma unroll
      for (int j = 0; j < ofThread; ++j)
        sums[i][j] = 0.0f;
  }

  /// Rows [first, first + 64) of `source`, columns [k, k + depth), transposed; zeros outside.
  template <typename T>
  __device__ __forceinline__ void load(float (&target)[depth][tile + 4], const void* source,
                                       long long base, long long first, long long rows, int k,
                                       int length) {
    for (int i = threadIdx.x; i < tile * depth / width; i += 256) {
      const int row = i / (depth / width), column = i % (depth / width) * width;
      float values[width];
#pragma unroll
      for (int j = 0; j < width; ++j)
        values[j] = 0.0f;
      if (first + row < rows && k + column < length)
        decodeRow<T>(values, source, base + first + row, length, k + column);
#pragma unroll
      for (int j = 0; j < width; ++j)
        target[column + j][row] = values[j];
    }
  }

  /// x has rows [xBase, xBase + m), W rows [wBase, wBase + n), both of `length` elements; the tile
  /// starts at row `firstRow` and column `firstColumn` of y.
  __device__ __forceinline__ void multiply(const void* x, const void* w, long long xBase,
                                           long long wBase, long long m, long long n, int length,
                                           long long firstRow, long long firstColumn) {
    const int ty = threadIdx.x / 16 * ofThread, tx = threadIdx.x % 16 * ofThread;
    for (int k = 0; k < length; k += depth) {
      load<X>(shared.x, x, xBase, firstRow, m, k, length);
      load<W>(shared.w, w, wBase, firstColumn, n, k, length);
      __syncthreads();
      const int count = length - k < depth ? length - k : depth;
      if (count == depth) {
#pragma unroll
        for (int i = 0; i < depth; ++i)
          addStep(i, ty, tx);
      } else {
        for (int i = 0; i < count; ++i)
          addStep(i, ty, tx);
      }
      __syncthreads();
    }
  }

  __device__ __forceinline__ void addStep(int k, int ty, int tx) {
    float a[ofThread], b[ofThread];
    loadVector(a, &shared.x[k][ty]);
    loadVector(b, &shared.w[k][tx]);
#pragma unroll
    for (int i = 0; i < ofThread; ++i)
#pragma unroll
      for (int j = 0; j < ofThread; ++j)
        sums[i][j] = __fmaf_rn(a[i], b[j], sums[i][j]);
  }
};

} // namespace tenon
