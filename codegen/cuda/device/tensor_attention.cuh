// Attention on tensor cores: 16-bit factors, f32 sums, online softmax (Milakov and Gimelshein 2018,
// arXiv 1805.02867; for many rows in the tiling of FlashAttention-2, Dao 2023, arXiv 2307.08691).
#pragma once
#include "attention.cuh"
#include "mma.cuh"

namespace tenon {

/// 2^x: as all exponentials here have their argument scaled by log2(e).
__device__ __forceinline__ float powerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

template <typename T> __device__ __forceinline__ unsigned packPair(float low, float high);
template <> __device__ __forceinline__ unsigned packPair<F16>(float low, float high) {
  unsigned result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
template <> __device__ __forceinline__ unsigned packPair<BF16>(float low, float high) {
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// How dot products become scores, and scores exponents of two: capped where `softcap` > 0, times
/// `factor`, which is positive.
struct ScoreScale {
  float scale, softcap;

  __device__ __forceinline__ float score(float dot) const {
    return softcap > 0.0f ? softcap * tanhf(dot * scale / softcap) : dot;
  }
  __device__ __forceinline__ float factor() const {
    constexpr float log2e = 1.44269504f;
    return softcap > 0.0f ? log2e : scale * log2e;
  }
};

__device__ __forceinline__ float minusInfinity() { return __uint_as_float(0xff800000u); }

/// Attention of up to 8 query heads that share a key head, for single rows. Each warp takes 16 keys
/// at a time on its own and loads them straight into the instruction's registers: an element of the
/// depth stands at another place than in memory, in both factors alike, so that every load has 16
/// bytes. The weights, exact to twice the bits of T, are two rows of one factor.
///
/// Thread (g, t) = (lane / 4, lane % 4) holds scores of head g.
template <typename T, int heads, int keySize, int valueSize, int warps> struct DecodeAttention {
  static_assert(heads <= 8 && keySize % 8 == 0 && valueSize % 8 == 0, "fits the instruction");
  static constexpr int keyChunks = (keySize + 31) / 32, valueChunks = (valueSize + 63) / 64;
  static constexpr int step = 16; ///< keys of a warp at a time

  struct Shared {
    float sums[warps][heads][valueSize];
    float largest[warps][8], total[warps][8];
  };

  const T *keys, *values; ///< of the row's sequence and key head
  long long keyStride, valueStride;
  int end;
  /// Whether the registers hold the query, and the next keys and values while these are in use.
  static constexpr bool prefetches = keySize + valueSize <= 256;

  const T* querySource;
  uint4 query[keyChunks];
  uint4 key[2][keyChunks], value[4][valueChunks];
  float sums[valueChunks][8][4] = {}; ///< of head g: elements 64 i + 16 t + j, + 8 + j
  float largest = minusInfinity(), total = 0.0f;

  __device__ __forceinline__ uint4 queryChunk(int c) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    return g < heads && 32 * c + 8 * t < keySize
               ? *reinterpret_cast<const uint4*>(querySource + g * keySize + 32 * c + 8 * t)
               : uint4{0, 0, 0, 0};
  }
  __device__ __forceinline__ void loadQuery(const T* source) {
    querySource = source;
    if (prefetches)
#pragma unroll
      for (int c = 0; c < keyChunks; ++c)
        query[c] = queryChunk(c);
  }
  /// The keys from `first` on; those behind the end repeat the last one.
  __device__ __forceinline__ void loadKeys(int first) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const T* source = keys + min(first + 8 * i + g, end - 1) * keyStride + 8 * t;
#pragma unroll
      for (int c = 0; c < keyChunks; ++c)
        if (keySize % 32 == 0 || 32 * c + 8 * t < keySize)
          key[i][c] = *reinterpret_cast<const uint4*>(source + 32 * c);
        else
          key[i][c] = uint4{0, 0, 0, 0};
    }
  }
  __device__ __forceinline__ void loadValues(int first) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* source =
          values + min(first + 2 * t + i % 2 + i / 2 * 8, end - 1) * valueStride + 8 * g;
#pragma unroll
      for (int c = 0; c < valueChunks; ++c)
        if (valueSize % 64 == 0 || 64 * c + 8 * g < valueSize)
          value[i][c] = *reinterpret_cast<const uint4*>(source + 64 * c);
        else
          value[i][c] = uint4{0, 0, 0, 0};
    }
  }

  /// The weights of 16 keys as the instruction's first factor: rows g their upper bits, rows g + 8
  /// what those lack.
  __device__ __forceinline__ void weigh(unsigned (&weights)[4], int first, ScoreScale scale) {
    const int t = threadIdx.x % 4;
    float scores[2][4] = {};
#pragma unroll
    for (int c = 0; c < keyChunks; ++c) {
      const uint4 q = prefetches ? query[c] : queryChunk(c);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        multiplyAdd<T>(scores[i], {q.x, 0, q.y, 0}, {key[i][c].x, key[i][c].y});
        multiplyAdd<T>(scores[i], {q.z, 0, q.w, 0}, {key[i][c].z, key[i][c].w});
      }
    }
    float most = largest;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        scores[i][j] =
            first + 8 * i + 2 * t + j < end ? scale.score(scores[i][j]) : minusInfinity();
        most = fmaxf(most, scores[i][j]);
      }
#pragma unroll
    for (int offset = 1; offset <= 2; offset *= 2)
      most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
    if (__any_sync(0xFFFFFFFFu, most != largest)) {
      const float correction = powerOfTwo((largest - most) * scale.factor());
      total *= correction;
#pragma unroll
      for (int c = 0; c < valueChunks; ++c)
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
          for (int k = 0; k < 4; ++k)
            sums[c][j][k] *= correction;
      largest = most;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float low = powerOfTwo((scores[i][0] - most) * scale.factor());
      const float high = powerOfTwo((scores[i][1] - most) * scale.factor());
      total += low + high;
      weights[2 * i] = packPair<T>(low, high);
      const float lowRest = low - roundTo<T>(low), highRest = high - roundTo<T>(high);
      weights[2 * i + 1] = packPair<T>(lowRest, highRest);
    }
  }

  __device__ __forceinline__ void addValues(const unsigned (&weights)[4]) {
#pragma unroll
    for (int c = 0; c < valueChunks; ++c)
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned selector = j % 2 == 0 ? 0x5410 : 0x7632;
        unsigned pairs[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const uint4 even = value[2 * i][c], odd = value[2 * i + 1][c];
          const unsigned a = j < 2 ? even.x : j < 4 ? even.y : j < 6 ? even.z : even.w;
          const unsigned b = j < 2 ? odd.x : j < 4 ? odd.y : j < 6 ? odd.z : odd.w;
          pairs[i] = __byte_perm(a, b, selector);
        }
        multiplyAdd<T>(sums[c][j], weights, pairs);
      }
  }

  /// Attends to keys [begin, end), begin < end; the next ones are on their way meanwhile where the
  /// registers hold them.
  __device__ __forceinline__ void attend(int begin, ScoreScale scale) {
    int first = begin + threadIdx.x / 32 * step;
    if (first >= end)
      return;
    loadKeys(first);
    if (prefetches)
      loadValues(first);
    while (true) {
      const int next = first + warps * step;
      unsigned weights[4];
      weigh(weights, first, scale);
      if (!prefetches)
        loadValues(first);
      else if (next < end)
        loadKeys(next);
      addValues(weights);
      if (next >= end)
        break;
      if (prefetches)
        loadValues(next);
      else
        loadKeys(next);
      first = next;
    }
    largest *= scale.factor();
  }

  /// Leaves the warp's sums in shared memory.
  __device__ __forceinline__ void share(Shared& shared) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;
#pragma unroll
    for (int offset = 1; offset <= 2; offset *= 2)
      total += __shfl_xor_sync(0xFFFFFFFFu, total, offset);
    if (t == 0) {
      shared.largest[warp][g] = largest;
      shared.total[warp][g] = total;
    }
    if (g < heads) {
#pragma unroll
      for (int c = 0; c < valueChunks; ++c)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int d = 64 * c + 16 * t + 8 * half;
          if (valueSize % 64 != 0 && d >= valueSize)
            continue;
#pragma unroll
          for (int j = 0; j < 8; j += 4)
            *reinterpret_cast<float4*>(&shared.sums[warp][g][d + j]) = {
                sums[c][j][half] + sums[c][j][2 + half],
                sums[c][j + 1][half] + sums[c][j + 1][2 + half],
                sums[c][j + 2][half] + sums[c][j + 2][2 + half],
                sums[c][j + 3][half] + sums[c][j + 3][2 + half]};
        }
    }
    __syncthreads();
  }
};

/// How the keys [begin, end) of a row are cut: into at most `splits` parts of whole steps of a
/// block, all but the last of one size. It depends on the row's keys alone.
struct KeySplit {
  int keys, parts; ///< of a part, and how many

  __device__ __forceinline__ KeySplit(int count, int splits, int blockKeys) {
    keys = (count + splits - 1) / splits;
    keys = (keys + blockKeys - 1) / blockKeys * blockKeys;
    parts = (count + keys - 1) / keys;
  }
};

/// Four sums of several sources, warps or blocks, each relative to its own largest exponent; source i
/// has `largest[i * stride]`, `total[i * stride]` and the sums `sumsOf(i)`.
template <typename Sums>
__device__ __forceinline__ float4 combineSums(int sources, const float* largestOf,
                                              const float* totalOf, int stride, Sums sumsOf,
                                              float& largest, float& total) {
  largest = minusInfinity();
  for (int i = 0; i < sources; ++i)
    largest = fmaxf(largest, largestOf[i * stride]);
  total = 0.0f;
  float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 16
  for (int i = 0; i < sources; ++i) {
    const float weight = powerOfTwo(largestOf[i * stride] - largest);
    const float4 part = sumsOf(i);
    total = __fmaf_rn(weight, totalOf[i * stride], total);
    sum.x = __fmaf_rn(weight, part.x, sum.x);
    sum.y = __fmaf_rn(weight, part.y, sum.y);
    sum.z = __fmaf_rn(weight, part.z, sum.z);
    sum.w = __fmaf_rn(weight, part.w, sum.w);
  }
  return sum;
}

/// The part of one block: `heads` heads of one row over the keys of one split. Where the row has
/// several, each block leaves its sums in scratch memory, and the last one to come combines them in
/// ascending order. `store(h, d, sums)` takes four results of head h from element d on.
///
/// scratch: splits * heads * (valueSize + 2) floats of this unit from a multiple of 16 bytes on,
/// `arrivals` its counter.
template <typename Attention, int heads, int valueSize, int warps, int splits, typename Store>
__device__ __forceinline__ void finishDecode(typename Attention::Shared& shared, float* scratch,
                                             unsigned* arrivals, int split, int parts,
                                             Store store) {
  constexpr int vectors = heads * valueSize / 4, headVectors = valueSize / 4;
  float* largestOf = scratch + splits * heads * valueSize;
  float* totalOf = largestOf + splits * heads;
  for (int i = threadIdx.x; i < vectors; i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    float largest, total;
    float4 sum = combineSums(
        warps, &shared.largest[0][h], &shared.total[0][h], 8,
        [&](int w) { return *reinterpret_cast<const float4*>(&shared.sums[w][h][d]); }, largest,
        total);
    if (parts == 1) {
      store(h, d, float4{sum.x / total, sum.y / total, sum.z / total, sum.w / total});
      continue;
    }
    __stcg(reinterpret_cast<float4*>(scratch + (split * heads + h) * valueSize + d), sum);
    if (d == 0) {
      __stcg(largestOf + split * heads + h, largest);
      __stcg(totalOf + split * heads + h, total);
    }
  }
  if (parts == 1 || !arrivesLast(arrivals, parts))
    return;
  __shared__ float largests[splits * heads], totals[splits * heads];
  for (int i = threadIdx.x; i < parts * heads; i += 32 * warps) {
    largests[i] = __ldcg(largestOf + i);
    totals[i] = __ldcg(totalOf + i);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < vectors; i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    float largest, total;
    const float4 sum = combineSums(
        parts, largests + h, totals + h, heads,
        [&](int part) {
          return __ldcg(
              reinterpret_cast<const float4*>(scratch + (part * heads + h) * valueSize + d));
        },
        largest, total);
    store(h, d, float4{sum.x / total, sum.y / total, sum.z / total, sum.w / total});
  }
}

/// 16 bytes from each lane's row of shared memory, as loadMatrices, transposed.
__device__ __forceinline__ void loadTransposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// Attention of `warps` * `tiles` * 16 consecutive rows of one query head over one sequence. Keys
/// and values come through two stages of `block` keys; a warp takes 16 * tiles rows. Weights are
/// rounded to T, their sum is not.
template <typename T, int keySize, int valueSize, int warps, int tiles, int block>
struct PrefillAttention {
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
  __device__ __forceinline__ void findRanges(int sequence, const int* positions, int count,
                                             int sequences, int capacity, bool causal,
                                             int window) {
    if (threadIdx.x == 0) {
      shared.firstBegin = shared.firstEnd = 0x7FFFFFFF;
      shared.lastBegin = shared.lastEnd = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += threads) {
      const KeyRange range = findKeys(sequence, i < count ? positions[i] : -1, sequences, capacity,
                                      causal, window);
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

  /// Rows [0, count) of `length` elements, `stride` apart; the others repeat the last one.
  template <int size, int pitch>
  __device__ __forceinline__ void load(T (*target)[pitch], int extent, const T* source,
                                       long long stride, int count) {
    constexpr int vectors = size / 8;
    for (int i = threadIdx.x; i < extent * vectors; i += threads) {
      const int row = i / vectors, column = i % vectors * 8;
      copyAsync(&target[row][column], source + min(row, count - 1) * stride + column, true);
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
        loadMatrices(a[i], &shared.query[(warp * tiles + i) * 16 + lane % 16]
                                        [16 * k + lane / 16 * 8]);
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
            const float weight =
                powerOfTwo(__fmaf_rn(scores[i][j][2 * half + c], factor, base));
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
          a[i][c] = packPair<T>(scores[i][2 * k + c / 2][c % 2 * 2],
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

  /// query: rows `queryStride` apart, `count` of them; keys and values of the sequence and head.
  __device__ __forceinline__ void attend(const T* query, long long queryStride, int count,
                                         const T* keys, long long keyStride, const T* values,
                                         long long valueStride, ScoreScale scale) {
    const int begin = shared.firstBegin / block * block, end = shared.lastEnd;
    auto fetch = [&](int first, int stage) {
      if (first < end) {
        load<keySize>(shared.keys[stage], block, keys + first * keyStride, keyStride, end - first);
        load<valueSize>(shared.values[stage], block, values + first * valueStride, valueStride,
                        end - first);
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
    load<keySize>(shared.query, rows, query, queryStride, count);
    fetch(begin, 0);
    int lastOfWarp = 0;
    for (int i = 0; i < 16 * tiles; ++i)
      lastOfWarp = max(lastOfWarp, shared.end[threadIdx.x / 32 * 16 * tiles + i]);
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
            scores[i][j][c] = scale.score(scores[i][j][c]);
      if (first < shared.lastBegin || first + block > shared.firstEnd)
        mask(scores, first);
      weigh(scores, scale.factor());
      addValues(scores, shared.values[stage]);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }

  /// The results, zeros for rows without keys, to shared memory: each warp its own rows.
  __device__ __forceinline__ void finish() {
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
        const bool exists = shared.end[row] > 0;
#pragma unroll
        for (int j = 0; j < valueTiles; ++j)
          *reinterpret_cast<unsigned*>(&shared.query[row][8 * j + 2 * t]) =
              exists ? packPair<T>(sums[i][j][2 * half] / sum, sums[i][j][2 * half + 1] / sum) : 0;
      }
    __syncwarp();
  }
};

} // namespace tenon
