// Attention of many rows on tensor cores: 16-bit factors, f32 sums, online softmax (Milakov and
// Gimelshein 2018, arXiv 1805.02867) in the tiling of FlashAttention-2 (Dao 2023, arXiv
// 2307.08691).
#pragma once
#include "key_range.cuh"
#include "mma.cuh"
#include "scores.cuh"

namespace tenon {

/// 16 bytes from each lane's row of shared memory, as loadMatrices, transposed.
__device__ __forceinline__ void loadTransposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// Attention of `warps` * `tiles` * 16 consecutive rows of one query head over one sequence. Keys
/// and values come through two stages of `keys` keys; a warp takes 16 * tiles rows. Weights are
/// rounded to Element, their sum is not.
///
/// `Config` has
///   Element               F16 or BF16, the type of queries, keys, values and results;
///   keySize, valueSize    of a head, multiples of 16;
///   warps                 of a block;
///   tiles                 of 16 rows that a warp takes;
///   keys                  at a time, a multiple of 16.
template <typename Config> struct PrefillAttention : Config {
  using T = typename Config::Element;
  using Config::keySize, Config::valueSize, Config::warps, Config::tiles;
  static constexpr int block = Config::keys;
  static_assert(keySize % 16 == 0 && valueSize % 16 == 0 && block % 16 == 0, "whole instructions");
  static constexpr int rows = warps * tiles * 16, threads = warps * 32;
  static constexpr int keyPitch = keySize + 8, valuePitch = valueSize + 8; // no bank twice
  static constexpr int rowPitch = keyPitch > valuePitch ? keyPitch : valuePitch;
  static constexpr int keySteps = keySize / 16, scoreTiles = block / 8, valueTiles = valueSize / 8;

  struct Shared {
    T query[rows][rowPitch]; ///< later the results
    T keys[2][block][keyPitch];
    T values[2][block][valuePitch];
    int begin[rows], end[rows]; ///< keys of each row
    int firstBegin, lastBegin, firstEnd, lastEnd;
  };

  Shared& shared;
  float sums[tiles][valueTiles][4] = {};
  float largest[tiles][2], total[tiles][2];

  __device__ __forceinline__ explicit PrefillAttention(Shared& memory) : shared(memory) {}

  /// The keys of the tile's rows; of `count` rows from `positions` on.
  template <typename Cache>
  __device__ __forceinline__ void findRanges(int sequence, const int* positions, int count,
                                             bool causal, int window) {
    if (threadIdx.x == 0) {
      shared.firstBegin = shared.firstEnd = 0x7FFFFFFF;
      shared.lastBegin = shared.lastEnd = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += threads) {
      const KeyRange range =
          findKeys<Cache>(sequence, i < count ? positions[i] : -1, causal, window);
      const bool empty = range.begin >= range.end;
      shared.begin[i] = empty ? 0 : range.begin;
      shared.end[i] = empty ? 0 : range.end;
      if (!empty) {
        atomicMin(&shared.firstBegin, range.begin);
        atomicMax(&shared.lastBegin, range.begin);
      }
      atomicMin(&shared.firstEnd, shared.end[i]);
      atomicMax(&shared.lastEnd, shared.end[i]);
    }
    __syncthreads();
  }

  /// Rows [0, count) of `size` elements; the others repeat the last one.
  template <int size, int pitch, typename Rows>
  __device__ __forceinline__ void load(T (*target)[pitch], int extent, Rows source, int count) {
    constexpr int vectors = size / 8;
    for (int i = threadIdx.x; i < extent * vectors; i += threads) {
      const int row = i / vectors, column = i % vectors * 8;
      copyAsync(&target[row][column], source.at(min(row, count - 1)) + column, true);
    }
  }

  __device__ __forceinline__ void multiplyKeys(float (&scores)[tiles][scoreTiles][4],
                                               const T (*keys)[keyPitch]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < keySteps; ++k) {
      unsigned a[tiles][4];
#pragma unroll
      for (int i = 0; i < tiles; ++i)
        loadMatrices(a[i],
                     &shared.query[(warp * tiles + i) * 16 + lane % 16][16 * k + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < scoreTiles; j += 2) {
        unsigned b[4];
        loadMatrices(b, &keys[8 * j + lane % 8 + lane / 16 * 8][16 * k + lane / 8 % 2 * 8]);
#pragma unroll
        for (int i = 0; i < tiles; ++i) {
          multiplyAdd<T>(scores[i][j], a[i], {b[0], b[1]});
          multiplyAdd<T>(scores[i][j + 1], a[i], {b[2], b[3]});
        }
      }
    }
  }

  /// Which of the block's rows has element `half` of a thread's tile `i`.
  static __device__ __forceinline__ int rowOf(int i, int half) {
    const int g = threadIdx.x % 32 / 4, warp = threadIdx.x / 32;
    return (warp * tiles + i) * 16 + 8 * half + g;
  }

  /// Leaves out the keys that a row does not see; the block starts at key `first`.
  __device__ __forceinline__ void mask(float (&scores)[tiles][scoreTiles][4], int first) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (warp * tiles + i) * 16 + 8 * half + g;
        const int begin = shared.begin[row] - first, end = shared.end[row] - first;
#pragma unroll
        for (int j = 0; j < scoreTiles; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const int key = 8 * j + 2 * t + c;
            if (key < begin || key >= end)
              scores[i][j][2 * half + c] = minusInfinity();
          }
      }
  }

  /// Scores to weights relative to the new largest score of each row.
  __device__ __forceinline__ void weigh(float (&scores)[tiles][scoreTiles][4], float factor) {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float most = largest[i][half];
#pragma unroll
        for (int j = 0; j < scoreTiles; ++j)
          most = fmaxf(most, fmaxf(scores[i][j][2 * half], scores[i][j][2 * half + 1]));
#pragma unroll
        for (int offset = 1; offset <= 2; offset *= 2)
          most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
        // A row that has seen no key yet.
        const float base = most == minusInfinity() ? 0.0f : -most * factor;
        const float correction = powerOfTwo(__fmaf_rn(largest[i][half], factor, base));
        largest[i][half] = most;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < scoreTiles; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const float weight = powerOfTwo(__fmaf_rn(scores[i][j][2 * half + c], factor, base));
            scores[i][j][2 * half + c] = weight;
            sum += weight;
          }
        total[i][half] = __fmaf_rn(total[i][half], correction, sum);
#pragma unroll
        for (int j = 0; j < valueTiles; ++j) {
          sums[i][j][2 * half] *= correction;
          sums[i][j][2 * half + 1] *= correction;
        }
      }
  }

  __device__ __forceinline__ void addValues(const float (&scores)[tiles][scoreTiles][4],
                                            const T (*values)[valuePitch]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < block / 16; ++k) {
      unsigned a[tiles][4];
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c)
          a[i][c] = pairFromFloat<T>(scores[i][2 * k + c / 2][c % 2 * 2],
                                     scores[i][2 * k + c / 2][c % 2 * 2 + 1]);
#pragma unroll
      for (int j = 0; j < valueTiles; j += 2) {
        unsigned b[4];
        loadTransposed(b, &values[16 * k + lane % 16][8 * j + lane / 16 * 8]);
#pragma unroll
        for (int i = 0; i < tiles; ++i) {
          multiplyAdd<T>(sums[i][j], a[i], {b[0], b[1]});
          multiplyAdd<T>(sums[i][j + 1], a[i], {b[2], b[3]});
        }
      }
    }
  }

  /// query: `count` rows; keys and values of the sequence and head.
  template <typename KeyRows, typename ValueRows, typename Scores>
  __device__ __forceinline__ void attend(StridedRows<T> query, int count, KeyRows keys,
                                         ValueRows values, Scores scale) {
    const int begin = shared.firstBegin / block * block, end = shared.lastEnd;
    auto fetch = [&](int first, int stage) {
      if (first < end) {
        load<keySize>(shared.keys[stage], block, keys.from(first), end - first);
        load<valueSize>(shared.values[stage], block, values.from(first), end - first);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    };
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        largest[i][half] = minusInfinity();
        total[i][half] = 0.0f;
      }
    if (begin >= end)
      return;
    load<keySize>(shared.query, rows, query, count);
    fetch(begin, 0);
    int lastOfWarp = 0;
    for (int i = 0; i < 16 * tiles; ++i)
      lastOfWarp = max(lastOfWarp, shared.end[threadIdx.x / 32 * 16 * tiles + i]);
    const int t = threadIdx.x % 4;
    int stage = 0;
    for (int first = begin; first < end; first += block, stage ^= 1) {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      __syncthreads();
      fetch(first + block, stage ^ 1);
      if (first >= lastOfWarp)
        continue;
      float scores[tiles][scoreTiles][4] = {};
      multiplyKeys(scores, shared.keys[stage]);
#pragma unroll
      for (int i = 0; i < tiles; ++i)
#pragma unroll
        for (int j = 0; j < scoreTiles; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c)
            scores[i][j][c] =
                scale.score(scores[i][j][c], rowOf(i, c / 2), first + 8 * j + 2 * t + c % 2);
      if (first < shared.lastBegin || first + block > shared.firstEnd)
        mask(scores, first);
      weigh(scores, scale.factor());
      addValues(scores, shared.values[stage]);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }

  /// The results, zeros for rows without keys, to shared memory: each warp its own rows. A row's
  /// largest score, times `factor`, is an exponent of two.
  template <typename Denominator = TotalAlone>
  __device__ __forceinline__ void finish(float factor = 1.0f, Denominator denominator = {}) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (warp * tiles + i) * 16 + 8 * half + g;
        float sum = total[i][half];
#pragma unroll
        for (int offset = 1; offset <= 2; offset *= 2)
          sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
        sum = denominator(sum, largest[i][half] * factor, row);
        const bool exists = shared.end[row] > 0;
#pragma unroll
        for (int j = 0; j < valueTiles; ++j)
          *reinterpret_cast<unsigned*>(&shared.query[row][8 * j + 2 * t]) =
              exists ? pairFromFloat<T>(sums[i][j][2 * half] / sum, sums[i][j][2 * half + 1] / sum)
                     : 0;
      }
    __syncwarp();
  }
};

} // namespace tenon
