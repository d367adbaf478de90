// Attention of a few query heads that share a key head, over a range of keys: online softmax
// (Milakov and Gimelshein 2018, arXiv 1805.02867) in blocks of keys, everything in f32.
#pragma once
#include "cache_heads.cuh"
#include "key_range.cuh"
#include "memory.cuh"
#include "scores.cuh"

namespace tenon {

/// The largest power of two, at most `limit`, that divides `value`.
constexpr __device__ int largestPower(int value, int limit) {
  int power = 1;
  while (2 * power <= limit && value % (2 * power) == 0)
    power *= 2;
  return power;
}
constexpr __device__ int roundUpToPower(int value) {
  int power = 1;
  while (power < value)
    power *= 2;
  return power;
}
constexpr __device__ int smaller(int a, int b) { return a < b ? a : b; }

/// `Config` has
///   KeyHead, ValueHead    element types of the cache, or what stands for a head of quants;
///   heads                 query heads;
///   keySize, valueSize    elements of a head;
///   threads               of the block;
///   keys                  of a step, a multiple of 32.
template <typename Config> struct Attention : Config {
  using Keys = CacheElements<typename Config::KeyHead>;
  using Values = CacheElements<typename Config::ValueHead>;
  using Config::heads, Config::keySize, Config::valueSize, Config::threads;
  static constexpr int block = Config::keys;
  using KeyMemory = typename Keys::Memory;
  using ValueMemory = typename Values::Memory;
  static constexpr int keyVector = largestPower(keySize, Keys::widest);
  static constexpr int keyLanes = smaller(32, roundUpToPower(keySize / keyVector));
  static constexpr int keyGroups = threads / keyLanes;
  static constexpr int valueVector = largestPower(valueSize, Values::widest);
  static constexpr int valueLanes = valueSize / valueVector;
  static constexpr int valueGroups = threads / valueLanes;
  static_assert(valueGroups >= 1, "a block has a thread for each vector of a value");

  struct Shared {
    alignas(16) float query[heads][keySize];
    float scores[heads][block];
    float largest[heads], total[heads], correction[heads];
    float partial[valueGroups][heads][valueSize];
  };

  Shared& shared;
  float sums[heads][valueVector]; // of this thread's keys

  __device__ __forceinline__ explicit Attention(Shared& memory) : shared(memory) {
#pragma unroll
    for (int h = 0; h < heads; ++h)
#pragma unroll
      for (int j = 0; j < valueVector; ++j)
        sums[h][j] = 0.0f;
  }

  template <typename Q> __device__ __forceinline__ void copyQuery(const Q* query) {
    for (int i = threadIdx.x; i < heads * keySize; i += threads)
      shared.query[i / keySize][i % keySize] = toFloat(query[i]);
  }

  template <typename Q> __device__ __forceinline__ void loadQuery(const Q* query) {
    copyQuery(query);
    if (threadIdx.x < heads) {
      shared.largest[threadIdx.x] = __uint_as_float(0xff800000u); // -inf
      shared.total[threadIdx.x] = 0.0f;
    }
    __syncthreads();
  }

  /// Adds each head's products over the lanes of a key and stores the scores. While a lane has
  /// several heads it hands half of them to its partner and takes the partner's other half.
  template <typename Added>
  __device__ __forceinline__ void storeScores(float (&dots)[heads], int c, bool exists, float scale,
                                              float softcap, int key, Added added) {
    const int lane = threadIdx.x % keyLanes;
    constexpr bool scatters = (heads & (heads - 1)) == 0 && heads <= keyLanes;
    constexpr int owned = scatters ? 1 : heads; // heads that a lane ends up with
    int offset = keyLanes / 2, head = 0;
    if (scatters) {
#pragma unroll
      for (int half = heads / 2; half >= 1; half /= 2, offset /= 2) {
        const bool upper = lane & offset;
        head += upper ? half : 0;
#pragma unroll
        for (int h = 0; h < half; ++h) {
          const float given = upper ? dots[h] : dots[h + half];
          const float kept = upper ? dots[h + half] : dots[h];
          dots[h] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, offset);
        }
      }
    }
    const bool stores = lane % (offset > 0 ? 2 * offset : 1) == 0;
#pragma unroll
    for (; offset >= 1; offset /= 2)
#pragma unroll
      for (int h = 0; h < owned; ++h)
        dots[h] += __shfl_xor_sync(0xFFFFFFFFu, dots[h], offset);
#pragma unroll
    for (int h = 0; h < owned; ++h) {
      float score = dots[h] * scale;
      if (softcap > 0.0f)
        score = softcap * tanhf(score / softcap);
      if constexpr (addsScores<Added>)
        score += added(head + h, key);
      if (stores)
        shared.scores[head + h][c] = exists ? score : __uint_as_float(0xff800000u);
    }
  }

  /// Scores of `count` keys from key `start` on, count <= block; -inf after them.
  template <typename Rows, typename Added>
  __device__ __forceinline__ void computeScores(Rows keys, int count, float scale, float softcap,
                                                int start, Added added) {
    constexpr int batch = 4; // keys whose loads are in flight together
    constexpr int steps = (keySize + keyLanes * keyVector - 1) / (keyLanes * keyVector);
    const int lane = threadIdx.x % keyLanes, group = threadIdx.x / keyLanes;
    for (int first = group; first < block; first += batch * keyGroups) {
      float dots[batch][heads] = {};
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const int d = (step * keyLanes + lane) * keyVector;
        if (d >= keySize)
          break;
        float key[batch][keyVector];
#pragma unroll
        for (int i = 0; i < batch; ++i)
          Keys::load(key[i], keys.at(min(first + i * keyGroups, count - 1)), d);
#pragma unroll
        for (int h = 0; h < heads; ++h) {
          float query[keyVector];
          loadVector(query, &shared.query[h][d]);
#pragma unroll
          for (int i = 0; i < batch; ++i)
#pragma unroll
            for (int j = 0; j < keyVector; ++j)
              dots[i][h] = __fmaf_rn(query[j], key[i][j], dots[i][h]);
        }
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int c = first + i * keyGroups;
        if constexpr (Keys::hasScale) {
          const float quantScale = Keys::scaleOf(keys.at(min(c, count - 1)));
#pragma unroll
          for (int h = 0; h < heads; ++h)
            dots[i][h] *= quantScale;
        }
        // The same for all lanes of a warp: `block` is a multiple of a warp's keys.
        if (c < block)
          storeScores(dots[i], c, c < count, scale, softcap, start + c, added);
      }
    }
  }

  /// Turns scores into weights relative to the new maximum; one warp a head at a time. `mayHide`:
  /// scores may be -inf.
  template <bool mayHide> __device__ __forceinline__ void normalize() {
    const int lane = threadIdx.x % 32;
    for (int h = threadIdx.x / 32; h < heads; h += threads / 32) {
      const float before = shared.largest[h];
      float largest = before;
#pragma unroll
      for (int c = lane; c < block; c += 32)
        largest = fmaxf(largest, shared.scores[h][c]);
#pragma unroll
      for (int offset = 16; offset >= 1; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, offset));
      if constexpr (mayHide)
        largest = fmaxf(largest, leastLargest());
      float total = 0.0f;
#pragma unroll
      for (int c = lane; c < block; c += 32) {
        const float weight = expf(shared.scores[h][c] - largest);
        shared.scores[h][c] = weight;
        total += weight;
      }
#pragma unroll
      for (int offset = 16; offset >= 1; offset /= 2)
        total += __shfl_xor_sync(0xFFFFFFFFu, total, offset);
      __syncwarp(); // all have read the maximum before
      if (lane == 0) {
        const float correction = expf(before - largest);
        shared.correction[h] = correction;
        shared.total[h] = shared.total[h] * correction + total;
        shared.largest[h] = largest;
      }
    }
  }

  template <typename Rows> __device__ __forceinline__ void addValues(Rows values, int count) {
    const int d = threadIdx.x % valueLanes * valueVector, group = threadIdx.x / valueLanes;
    if (group >= valueGroups)
      return;
#pragma unroll
    for (int h = 0; h < heads; ++h)
#pragma unroll
      for (int j = 0; j < valueVector; ++j)
        sums[h][j] *= shared.correction[h];
    constexpr int batch = 4; // values whose loads are in flight together
    for (int first = group; first < count; first += batch * valueGroups) {
      float value[batch][valueVector];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        Values::load(value[i], values.at(min(first + i * valueGroups, count - 1)), d);
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int c = first + i * valueGroups;
        float quantScale = 1.0f;
        if constexpr (Values::hasScale)
          quantScale = Values::scaleOf(values.at(min(c, count - 1)));
#pragma unroll
        for (int h = 0; h < heads; ++h) {
          float weight = c < count ? shared.scores[h][c] : 0.0f;
          if constexpr (Values::hasScale)
            weight *= quantScale;
#pragma unroll
          for (int j = 0; j < valueVector; ++j)
            sums[h][j] = c < count ? __fmaf_rn(weight, value[i][j], sums[h][j]) : sums[h][j];
        }
      }
    }
  }

  /// Attends to keys [begin, end) of the rows `keys` and `values`; blocks start at multiples of
  /// `block`, so that the result depends on the range alone. `added(h, c)` is added to the score of
  /// key c for head h.
  template <typename KeyRows, typename ValueRows, typename Added>
  __device__ __forceinline__ void attendRange(KeyRows keys, ValueRows values, int begin, int end,
                                              float scale, float softcap, Added added) {
    for (int first = begin; first < end;) {
      const int next = (first / block + 1) * block;
      const int count = (next < end ? next : end) - first;
      computeScores(keys.from(first), count, scale, softcap, first, added);
      __syncthreads();
      normalize<addsScores<Added>>();
      __syncthreads();
      addValues(values.from(first), count);
      __syncthreads();
      first += count;
    }
  }

  /// The sums of each group of threads to shared memory.
  __device__ __forceinline__ void finish() {
    const int d = threadIdx.x % valueLanes * valueVector, group = threadIdx.x / valueLanes;
    if (group < valueGroups)
#pragma unroll
      for (int h = 0; h < heads; ++h)
#pragma unroll
        for (int j = 0; j < valueVector; ++j)
          shared.partial[group][h][d + j] = sums[h][j];
    __syncthreads();
  }

  template <typename Added = NothingAdded>
  __device__ __forceinline__ void attend(const KeyMemory* keys, const ValueMemory* values,
                                         long long keyStride, long long valueStride, int begin,
                                         int end, float scale, float softcap, Added added = {}) {
    attendRange(StridedRows<KeyMemory>{keys, keyStride},
                StridedRows<ValueMemory>{values, valueStride}, begin, end, scale, softcap, added);
    finish();
  }

  /// The same for keys of head `head` in the pools at `keys` and `values`, heads of which are
  /// `keyStride` and `valueStride` elements, in the pages `blocks` of the sequence.
  template <typename Cache, typename Added = NothingAdded>
  __device__ __forceinline__ void attendPages(const int* blocks, int head, const KeyMemory* keys,
                                              const ValueMemory* values, int keyStride,
                                              int valueStride, int begin, int end, float scale,
                                              float softcap, Added added = {}) {
    attendRange(PagedRows<Cache, KeyMemory>{keys, blocks, head, keyStride, 0},
                PagedRows<Cache, ValueMemory>{values, blocks, head, valueStride, 0}, begin, end,
                scale, softcap, added);
    finish();
  }

  /// The same for keys [begin, end) of those of a ring, each multiplied with the view of the query
  /// for its part; views are `viewStride` elements apart, as `tenon.ring_places` has them.
  template <typename Cache, typename Q>
  __device__ __forceinline__ void
  attendRing(const RingKeys& ring, const Q* query, long long viewStride, const KeyMemory* keys,
             const ValueMemory* values, long long keyStride, long long valueStride, int begin,
             int end, float scale, float softcap) {
    int first = 0; // key of the part
    for (int view = 2; view >= 0; --view) {
      const int place = view == 2 ? 0 : view == 1 ? Cache::capacity - ring.before : ring.own;
      const int last = view == 2 ? ring.kept : view == 1 ? ring.kept + ring.before : ring.end;
      const int from = max(begin, first), to = min(end, last);
      if (from < to) {
        copyQuery(query + view * viewStride);
        __syncthreads();
        attendRange(StridedRows<KeyMemory>{keys, keyStride},
                    StridedRows<ValueMemory>{values, valueStride}, place + from - first,
                    place + to - first, scale, softcap, NothingAdded());
      }
      first = last;
    }
    finish();
  }

  /// Calls `store(head, key, weight)` for each head and key of [begin, end) of the rows `keys`, to
  /// which the block has attended as `attendRange` says: the exponential of the score, computed
  /// again, divided by `denominator`.
  template <typename KeyRows, typename Added, typename Denominator, typename Store>
  __device__ __forceinline__ void weigh(KeyRows keys, int begin, int end, float scale,
                                        float softcap, Added added, Denominator denominator,
                                        Store store) {
    for (int first = begin; first < end;) {
      const int next = (first / block + 1) * block;
      const int count = (next < end ? next : end) - first;
      computeScores(keys.from(first), count, scale, softcap, first, added);
      __syncthreads();
      for (int i = threadIdx.x; i < heads * count; i += threads) {
        const int h = i / count, c = i % count;
        const float largest = shared.largest[h];
        store(h, first + c,
              expf(shared.scores[h][c] - largest) / denominator(shared.total[h], largest, h));
      }
      __syncthreads();
      first += count;
    }
  }

  /// Element `d` of head `h`, not yet divided by the total: groups of keys in ascending order.
  __device__ __forceinline__ float output(int h, int d) const {
    float sum = shared.partial[0][h][d];
#pragma unroll
    for (int group = 1; group < valueGroups; ++group)
      sum += shared.partial[group][h][d];
    return sum;
  }
};

/// The parts of a row's attention that the blocks of one unit, `heads` query heads of a row, leave
/// in scratch memory: for each part and head its maximum and total, and `valueSize` sums.
template <int heads, int valueSize> struct AttentionParts {
  static constexpr int headFloats = valueSize + 2;

  /// Head `h` of part `part` of unit `unit`.
  static __device__ __forceinline__ float* at(float* scratch, long long unit, int parts, int part,
                                              int h) {
    return scratch + ((unit * parts + part) * heads + h) * headFloats;
  }

  /// The result at element `d` of head `h`: parts [0, count) in ascending order.
  template <typename Denominator = TotalAlone>
  static __device__ __forceinline__ float combine(float* scratch, long long unit, int parts,
                                                  int count, int h, int d,
                                                  Denominator denominator = {}) {
    float largest = __uint_as_float(0xff800000u);
    for (int part = 0; part < count; ++part)
      largest = fmaxf(largest, __ldcg(at(scratch, unit, parts, part, h)));
    float total = 0.0f, sum = 0.0f;
    for (int part = 0; part < count; ++part) {
      const float* source = at(scratch, unit, parts, part, h);
      const float correction = expf(__ldcg(source) - largest);
      total += correction * __ldcg(source + 1);
      sum += correction * __ldcg(source + 2 + d);
    }
    return sum / denominator(total, largest, h);
  }
};

} // namespace tenon
