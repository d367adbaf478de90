// Attention of single rows on tensor cores: 16-bit factors, f32 sums, online softmax (Milakov and
// Gimelshein 2018, arXiv 1805.02867).
#pragma once
#include "key_range.cuh"
#include "mma.cuh"
#include "scores.cuh"

namespace tenon {

/// Transposes an 8 x 8 matrix of 16-bit elements: thread (g, t) = (lane / 4, lane % 4) gives row g,
/// columns 2 t and + 1, and gets column g, rows 2 t and + 1.
__device__ __forceinline__ unsigned transposeMatrix(unsigned rows) {
  unsigned columns;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(columns) : "r"(rows));
  return columns;
}

/// Which keys and values of a row's sequence the kernel makes itself, of `rows` rows of the call:
/// those are in shared memory, and not yet or only just in the cache. Usually the row's own, at the
/// end of its keys; those of other rows, too, where the call has several of one sequence.
template <int rows> struct NewKeys {
  int own;     ///< the row
  int place;   ///< of its key; -1: it has none in the cache
  bool others; ///< whether `places` counts
  int* places; ///< in shared memory: of the sequence's rows; -1 for rows of another one

  /// The row whose key is at `position`, the last one if there are several; -1: it is in the cache.
  __device__ __forceinline__ int find(int position) const {
    if (!others)
      return position == place ? own : -1;
    int row = rows - 1;
#pragma unroll 1
    while (row >= 0 && places[row] != position)
      --row;
    return row;
  }
  /// Whether there may be one in [first, first + count).
  __device__ __forceinline__ bool mayContain(int first, int count) const {
    return others || (place >= first && place - first < count);
  }
  /// Of places up to `end`, excluded, the last one whose key may be in the cache.
  __device__ __forceinline__ int lastCached(int end) const {
    return place == end - 1 ? end - 2 : end - 1;
  }
};
template <> struct NewKeys<0> {
  __device__ __forceinline__ int find(int) const { return -1; }
  __device__ __forceinline__ bool mayContain(int, int) const { return false; }
  __device__ __forceinline__ int lastCached(int end) const { return end - 1; }
};

/// A head of `size` elements on its way from memory through its warp, as it comes: a lane has the pairs
/// lane + 32 i of `turned` that rope turns, `adjacent` elements or as many apart as there are pairs, and
/// what stands behind those; without pairs 8 elements, of at most 256.
template <typename T, int size, int turned, bool adjacent> struct HeadOfWarp {
  static constexpr int rest = size - 2 * turned;
  struct alignas(2 * sizeof(T)) Pair {
    T first, second;
  };
  Pair pairs[turned > 0 ? (turned + 31) / 32 : 1];
  T others[rest > 0 ? (rest + 31) / 32 : 1]; ///< beside pairs
  uint4 whole;                               ///< without pairs

  __device__ __forceinline__ void load(const T* source) {
    const int lane = threadIdx.x % 32;
    if (turned == 0) {
      if (8 * lane < size)
        whole = reinterpret_cast<const uint4*>(source)[lane];
      return;
    }
#pragma unroll
    for (int i = 0; i < (turned + 31) / 32; ++i)
      if (const int pair = lane + 32 * i; pair < turned)
        pairs[i] = adjacent ? reinterpret_cast<const Pair*>(source)[pair]
                            : Pair{source[pair], source[pair + turned]};
#pragma unroll
    for (int i = 0; i < (rest + 31) / 32; ++i)
      if (const int k = lane + 32 * i; k < rest)
        others[i] = source[2 * turned + k];
  }
  /// What rope leaves as it is, all without pairs.
  __device__ __forceinline__ void storeRest(T* target) const {
    const int lane = threadIdx.x % 32;
    if (turned == 0) {
      if (8 * lane < size)
        reinterpret_cast<uint4*>(target)[lane] = whole;
      return;
    }
#pragma unroll
    for (int i = 0; i < (rest + 31) / 32; ++i)
      if (const int k = lane + 32 * i; k < rest)
        target[2 * turned + k] = others[i];
  }
};

/// Attention of up to 8 query heads that share a key head, for single rows. Each warp takes 16 keys
/// at a time on its own: the first ones straight into the instruction's registers, those behind them
/// through a ring of `stages` such steps in shared memory that it fills by asynchronous copies, the next
/// ones on their way as soon as a step is in registers; or, with no stages, into registers, too: `sets`
/// of them, used in turn, each on its way again as soon as its step is done. ptxas has a warp wait for all
/// loads of the loop at once, so that with two sets each turn waits once for two steps.
///
/// Threads take keys and values 16 bytes at a time, chunks of 32 and 64 elements, and what is left of
/// them, `keyRest` and `valueRest` elements, 4 or 8 bytes at a time: an element of the depth stands at
/// another place in the instruction's factors than in memory, in both alike. Keys and values are the
/// first factor, queries and weights the second one; weights are exact to twice the bits of T.
///
/// What the cache holds at the places of keys that the kernel makes is loaded like any other key and
/// then replaced: so loads stand one behind the other, without a branch between them.
///
/// Thread (g, t) = (lane / 4, lane % 4) holds scores of heads 2 t and + 1, or of the only one.
template <typename T, int heads, int keyHeads, int keySize, int valueSize, int warps, int sets,
          int stages, int newRows>
struct DecodeAttention {
  static_assert(heads <= 8 && keySize % 8 == 0 && valueSize % 8 == 0, "fits the instruction");
  static_assert(sets == 1 || stages == 0, "steps behind the first are in registers or in a ring");
  static constexpr int keyRest = keySize % 32 == 16 ? 16 : 0;
  static constexpr int valueRest = valueSize % 64 == 16 || valueSize % 64 == 32 ? valueSize % 64 : 0;
  static constexpr int keyChunks = (keySize - keyRest + 31) / 32;
  static constexpr int valueChunks = (valueSize - valueRest + 63) / 64;
  static constexpr int valueTiles = 4 * valueChunks + valueRest / 16; ///< of the instruction
  static constexpr int held = heads > 1 ? 2 : 1;                      ///< heads of a thread
  static constexpr int step = 16; ///< keys of a warp at a time
  static constexpr long long keyStride = keyHeads * keySize, valueStride = keyHeads * valueSize;
  static constexpr int storedRows = newRows > 0 ? newRows : 1;
  // Of a key or value in the ring, in vectors of 16 bytes: how many, and from one to the next. Eight
  // threads that read at once find eight vectors in banks that differ (`keyAt`, `valueAt`).
  static constexpr int keyVectors = keySize / 8, valueVectors = valueSize / 8;
  static constexpr int keyPitch = keyVectors % 8 == 0 ? keyVectors : (keyVectors + 3) / 8 * 8 + 4;
  static constexpr int valuePitch = valueVectors % 8 == 0 ? valueVectors : valueVectors | 1;

  struct Stage {
    uint4 keys[step * keyPitch], values[step * valuePitch];
  };
  static constexpr int sumVectors = heads * (valueSize + 4) / 4;
  static constexpr int ringVectors = stages * int(sizeof(Stage) / sizeof(uint4));
  union Warp {
    uint4 ring[ringVectors > sumVectors ? ringVectors : sumVectors]; // stages of `Stage`
    float sums[heads][valueSize + 4]; // behind the last step; the banks of heads differ
  };
  struct alignas(16) Shared {
    Warp ofWarp[warps];
    float largest[warps][8], total[warps][8];
    T query[heads][keySize + 16]; // as they do here
    T newKeys[storedRows][keySize], newValues[storedRows][valueSize];
    int places[storedRows];
  };

  Shared& shared;
  const T *keys, *values; ///< of the row's sequence and key head
  int end;
  int last; ///< place that is loaded
  NewKeys<newRows> made;

  /// A thread's part of a step's keys and values; the last vectors for what is left.
  struct Operands {
    uint4 key[2][keyChunks + 1], value[4][valueChunks + 1];
  };
  Operands operands[sets];
  /// Elements 64 c + 8 g + 2 j, + 1, in tile 4 c + j, behind the chunks (valueRest / 8) g + 2 j, + 1:
  /// of two heads each.
  float sums[valueTiles][4] = {};
  float largest[held], total[held];

  __device__ __forceinline__ explicit DecodeAttention(Shared& memory) : shared(memory) {
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] = minusInfinity(), total[h] = 0.0f;
  }

  /// Attends to keys of `newKeys` and the cache, none from `behind` on.
  __device__ __forceinline__ void setKeys(int behind, NewKeys<newRows> newKeys) {
    end = behind, made = newKeys, last = newKeys.lastCached(behind);
  }

  static __device__ __forceinline__ bool hasKeyChunk(int c) {
    return (keySize - keyRest) % 32 == 0 || 32 * c + 8 * int(threadIdx.x % 4) < keySize;
  }
  static __device__ __forceinline__ bool hasValueChunk(int c) {
    return (valueSize - valueRest) % 64 == 0 || 64 * c + 8 * int(threadIdx.x % 32 / 4) < valueSize;
  }
  /// Which keys and values of a step a thread takes.
  static __device__ __forceinline__ int keyRow(int i) { return 8 * i + threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int valueRow(int i) {
    return 2 * (threadIdx.x % 4) + i % 2 + i / 2 * 8;
  }
  /// Where a vector of a step stands in the ring. Of keys eight threads read four vectors of two
  /// rows, one even and one odd; of values two vectors of four rows, all even or all odd.
  static __device__ __forceinline__ int keyAt(int row, int vector) {
    return row * keyPitch + (keyPitch == keyVectors ? vector ^ (row & 1) * 4 : vector);
  }
  static __device__ __forceinline__ int valueAt(int row, int vector) {
    return row * valuePitch + (valuePitch == valueVectors ? vector ^ (row & 6) : vector);
  }
  __device__ __forceinline__ Stage& stageOf(int slot) const {
    return reinterpret_cast<Stage*>(shared.ofWarp[threadIdx.x / 32].ring)[slot];
  }

  /// What a thread takes of a key or value from its `row`, a pointer to whole vectors: `at(vector)` is
  /// the place of a vector of 16 bytes, `load(pointer)` the vector.
  template <typename At, typename Load>
  static __device__ __forceinline__ void takeKey(Operands& to, int i, const uint4* row, At at,
                                                 Load load) {
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int c = 0; c < keyChunks; ++c)
      to.key[i][c] = hasKeyChunk(c) ? load(row + at(4 * c + t)) : uint4{0, 0, 0, 0};
    if (keyRest > 0) {
      const uint2 words = reinterpret_cast<const uint2*>(row + at(4 * keyChunks + t / 2))[t % 2];
      to.key[i][keyChunks].x = words.x, to.key[i][keyChunks].y = words.y;
    }
  }
  template <typename At, typename Load>
  static __device__ __forceinline__ void takeValue(Operands& to, int i, const uint4* row, At at,
                                                   Load load) {
    const int g = threadIdx.x % 32 / 4;
#pragma unroll
    for (int c = 0; c < valueChunks; ++c)
      to.value[i][c] = hasValueChunk(c) ? load(row + at(8 * c + g)) : uint4{0, 0, 0, 0};
    if (valueRest == 16) {
      to.value[i][valueChunks].x =
          reinterpret_cast<const unsigned*>(row + at(8 * valueChunks + g / 4))[g % 4];
    } else if (valueRest == 32) {
      const uint2 words = reinterpret_cast<const uint2*>(row + at(8 * valueChunks + g / 2))[g % 2];
      to.value[i][valueChunks].x = words.x, to.value[i][valueChunks].y = words.y;
    }
  }
  static __device__ __forceinline__ const uint4* vectorsOf(const T* row) {
    return reinterpret_cast<const uint4*>(row);
  }
  static __device__ __forceinline__ int inOrder(int vector) { return vector; }
  static __device__ __forceinline__ uint4 fromShared(const uint4* vector) { return *vector; }
  /// From a cache whose rows are as many vectors: where several fill 256 bytes, other blocks ask for the
  /// rest of those, rows of other heads, at about the same time. Rows of 160 and 256 bytes gain nothing.
  template <int vectors> static __device__ __forceinline__ uint4 fromCache(const uint4* vector) {
    constexpr int run = 256 / int(sizeof(uint4));
    return vectors < run && run % vectors == 0 ? loadRun(vector) : *vector;
  }

  /// Loads a step's keys, if any is in the cache; behind the last one they repeat it.
  __device__ __forceinline__ void loadKeys(Operands& to, int first) const {
    if (first <= last)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        takeKey(to, i, vectorsOf(keys + min(first + keyRow(i), last) * keyStride), inOrder,
                fromCache<keyVectors>);
  }
  __device__ __forceinline__ void loadValues(Operands& to, int first) const {
    if (first <= last)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        takeValue(to, i, vectorsOf(values + min(first + valueRow(i), last) * valueStride), inOrder,
                  fromCache<valueVectors>);
  }
  /// Begins to bring a step's rows from `first` on, if any is in the cache: `at(row, vector)` is a
  /// vector's place in `target`.
  template <int vectors, typename At>
  __device__ __forceinline__ void copyRows(uint4* target, const T* source, long long stride,
                                           int first, At at) const {
    if (first <= last)
#pragma unroll
      for (int i = threadIdx.x % 32; i < step * vectors; i += 32) {
        const int row = i / vectors, vector = i % vectors, place = min(first + row, last);
        copyAsync(target + at(row, vector), source + place * stride + 8 * vector, true);
      }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ void copyKeys(int slot, int first) const {
    copyRows<keyVectors>(stageOf(slot).keys, keys, keyStride, first, keyAt);
  }
  __device__ __forceinline__ void copyValues(int slot, int first) const {
    copyRows<valueVectors>(stageOf(slot).values, values, valueStride, first, valueAt);
  }
  /// Waits for the oldest keys or values on their way: both are counted in turn.
  static __device__ __forceinline__ void waitForCopy() {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages > 0 ? 2 * stages - 1 : 0) : "memory");
    __syncwarp();
  }

  /// A step of the ring into registers.
  __device__ __forceinline__ void takeKeys(Operands& to, int slot) const {
    waitForCopy();
#pragma unroll
    for (int i = 0; i < 2; ++i)
      takeKey(
          to, i, stageOf(slot).keys, [i](int vector) { return keyAt(keyRow(i), vector); },
          fromShared);
    __syncwarp();
  }
  __device__ __forceinline__ void takeValues(Operands& to, int slot) const {
    waitForCopy();
#pragma unroll
    for (int i = 0; i < 4; ++i)
      takeValue(
          to, i, stageOf(slot).values, [i](int vector) { return valueAt(valueRow(i), vector); },
          fromShared);
    __syncwarp();
  }
  /// The row of the call that made a key or value of a step; -1: none. Places behind the end repeat
  /// the last one.
  __device__ __forceinline__ int madeRow(int row, int first) const {
    return made.find(min(first + row, end - 1));
  }
  __device__ __forceinline__ void takeNewKeys(Operands& to, int first) const {
    if (!made.mayContain(first, step))
      return;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if (const int row = madeRow(keyRow(i), first); row >= 0)
        takeKey(to, i, vectorsOf(shared.newKeys[row]), inOrder, fromShared);
  }
  __device__ __forceinline__ void takeNewValues(Operands& to, int first) const {
    if (!made.mayContain(first, step))
      return;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (const int row = madeRow(valueRow(i), first); row >= 0)
        takeValue(to, i, vectorsOf(shared.newValues[row]), inOrder, fromShared);
  }

  /// Begins to bring the first keys and values of [begin, end).
  __device__ __forceinline__ void start(int begin) {
    const int first = begin + threadIdx.x / 32 * step;
#pragma unroll
    for (int set = 0; set < sets; ++set) {
      loadKeys(operands[set], first + set * warps * step);
      loadValues(operands[set], first + set * warps * step);
    }
#pragma unroll
    for (int slot = 0; slot < stages; ++slot) {
      copyKeys(slot, first + (slot + 1) * warps * step);
      copyValues(slot, first + (slot + 1) * warps * step);
    }
  }
  /// The scores of keys g and g + 8 of 16 from `first` on, each for two heads; -inf behind the end.
  __device__ __forceinline__ void score(float (&scores)[4], const Operands& of, int first,
                                        ScoreScale scale) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float dots[2][4] = {}; // two sums, so that one instruction need not wait for the last
#pragma unroll
    for (int c = 0; c < keyChunks; ++c) {
      const uint4 q = g < heads && hasKeyChunk(c)
                          ? *reinterpret_cast<const uint4*>(&shared.query[g][32 * c + 8 * t])
                          : uint4{0, 0, 0, 0};
      const uint4 a = of.key[0][c], b = of.key[1][c];
      multiplyAdd<T>(dots[0], {a.x, b.x, a.y, b.y}, {q.x, q.y});
      multiplyAdd<T>(dots[1], {a.z, b.z, a.w, b.w}, {q.z, q.w});
    }
    if (keyRest > 0) {
      const uint2 q = g < heads ? *reinterpret_cast<const uint2*>(
                                      &shared.query[g][32 * keyChunks + 4 * t])
                                : uint2{0, 0};
      const uint4 a = of.key[0][keyChunks], b = of.key[1][keyChunks];
      multiplyAdd<T>(dots[0], {a.x, b.x, a.y, b.y}, {q.x, q.y});
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      scores[i] = first + g + i / 2 * 8 < end ? scale.score(dots[0][i] + dots[1][i])
                                              : minusInfinity();
  }

  /// The weights of 16 keys with these scores as the instruction's second factor: their upper bits, and what those
  /// lack.
  /// `isFirst`: of a warp, so that there are no sums yet.
  __device__ __forceinline__ void weigh(unsigned (&upper)[2], unsigned (&rest)[2],
                                        const float (&scores)[4], ScoreScale scale, bool isFirst) {
    float most[held];
    bool rises = false; // above what the sums are relative to
#pragma unroll
    for (int h = 0; h < held; ++h) {
      most[h] = fmaxf(largest[h], fmaxf(scores[h], scores[h + 2]));
#pragma unroll
      for (int offset = 4; offset <= 16; offset *= 2)
        most[h] = fmaxf(most[h], __shfl_xor_sync(0xFFFFFFFFu, most[h], offset));
      rises |= most[h] != largest[h];
    }
    if (!isFirst && __any_sync(0xFFFFFFFFu, rises)) {
#pragma unroll
      for (int h = 0; h < held; ++h) {
        const float correction = powerOfTwo((largest[h] - most[h]) * scale.factor());
        total[h] *= correction;
#pragma unroll
        for (int tile = 0; tile < valueTiles; ++tile) {
          sums[tile][h] *= correction;
          sums[tile][h + 2] *= correction;
        }
      }
    }
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] = most[h];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float weights[2] = {0.0f, 0.0f};
#pragma unroll
      for (int h = 0; h < held; ++h) {
        weights[h] = powerOfTwo((scores[2 * i + h] - most[h]) * scale.factor());
        total[h] += weights[h];
      }
      upper[i] = transposeMatrix(pairFromFloat<T>(weights[0], weights[1]));
      rest[i] = transposeMatrix(pairFromFloat<T>(weights[0] - roundTo<T>(weights[0]),
                                            weights[1] - roundTo<T>(weights[1])));
    }
  }

  /// Adds elements of 16 values, of each two elements in one word, times their weights to a tile.
  __device__ __forceinline__ void addTile(int tile, const unsigned (&words)[4],
                                          const unsigned (&upper)[2], const unsigned (&rest)[2]) {
    const unsigned elements[4] = {
        __byte_perm(words[0], words[1], 0x5410), __byte_perm(words[0], words[1], 0x7632),
        __byte_perm(words[2], words[3], 0x5410), __byte_perm(words[2], words[3], 0x7632)};
    multiplyAdd<T>(sums[tile], elements, upper);
    multiplyAdd<T>(sums[tile], elements, rest);
  }
  static __device__ __forceinline__ unsigned wordOf(const uint4& vector, int word) {
    return word == 0 ? vector.x : word == 1 ? vector.y : word == 2 ? vector.z : vector.w;
  }
  __device__ __forceinline__ void addValues(const Operands& of, const unsigned (&upper)[2],
                                            const unsigned (&rest)[2]) {
#pragma unroll
    for (int tile = 0; tile < valueTiles; ++tile) {
      const int c = tile / 4, j = tile % 4;
      addTile(tile,
              {wordOf(of.value[0][c], j), wordOf(of.value[1][c], j), wordOf(of.value[2][c], j),
               wordOf(of.value[3][c], j)},
              upper, rest);
    }
  }

  /// Attends to the 16 keys from `first` on with a set that holds them, or into which they go from `slot`
  /// of the ring, which it moves on; asks for those that the set or slot takes next.
  __device__ __forceinline__ void attendStep(Operands& with, int first, bool isFirst, int& slot,
                                             ScoreScale scale) {
    const int next = first + (stages > 0 ? stages : sets) * warps * step;
    const bool inRing = stages > 0 && !isFirst;
    float scores[4];
    unsigned upper[2], rest[2];
    if (inRing) {
      takeKeys(with, slot);
      copyKeys(slot, next);
    }
    takeNewKeys(with, first);
    score(scores, with, first, scale);
    if (stages == 0)
      loadKeys(with, next);
    weigh(upper, rest, scores, scale, isFirst);
    if (inRing) {
      takeValues(with, slot);
      copyValues(slot, next);
      slot = slot + 1 < stages ? slot + 1 : 0;
    }
    takeNewValues(with, first);
    addValues(with, upper, rest);
    if (stages == 0)
      loadValues(with, next);
  }

  /// Attends to keys [begin, end), the first of which `start` has asked for. The sets take their turns
  /// in code of their own, as registers have no index.
  __device__ __forceinline__ void attend(int begin, ScoreScale scale) {
    const int own = begin + threadIdx.x / 32 * step;
    int slot = 0;
    for (int turn = own; turn < end; turn += sets * warps * step)
#pragma unroll
      for (int set = 0; set < sets; ++set)
        if (const int first = turn + set * warps * step; set == 0 || first < end)
          attendStep(operands[set], first, first == own, slot, scale);
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] *= scale.factor();
  }

  __device__ __forceinline__ void shareSums(float* target, int h, int g) const {
    auto pair = [&](int tile) { return float2{sums[tile][h], sums[tile][h + 2]}; };
    auto store = [&](int element, int tile) {
      const float2 low = pair(tile), high = pair(tile + 1);
      *reinterpret_cast<float4*>(target + element) = {low.x, low.y, high.x, high.y};
    };
#pragma unroll
    for (int c = 0; c < valueChunks; ++c)
      if (hasValueChunk(c))
#pragma unroll
        for (int j = 0; j < 4; j += 2)
          store(64 * c + 8 * g + 2 * j, 4 * c + j);
    constexpr int tiles = 4 * valueChunks, elements = 64 * valueChunks;
    if constexpr (valueRest == 16)
      *reinterpret_cast<float2*>(target + elements + 2 * g) = pair(tiles);
    else if constexpr (valueRest == 32)
      store(elements + 4 * g, tiles);
  }
  /// Leaves the warp's sums in shared memory.
  __device__ __forceinline__ void share() {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;
#pragma unroll
    for (int h = 0; h < held; ++h) {
#pragma unroll
      for (int offset = 4; offset <= 16; offset *= 2)
        total[h] += __shfl_xor_sync(0xFFFFFFFFu, total[h], offset);
      const int head = 2 * t + h;
      if (g == 0) {
        shared.largest[warp][head] = largest[h];
        shared.total[warp][head] = total[h];
      }
      if (head < heads)
        shareSums(shared.ofWarp[warp].sums[head], h, g);
    }
    __syncthreads();
  }
};

/// Four sums of several sources, warps or blocks, each relative to its own largest exponent; source i
/// has `largest[i * stride]`, `total[i * stride]` and the sums `sumsOf(i)`.
struct CombinedSums {
  float largest, total;
  float4 sums;

  template <typename Sums>
  __device__ __forceinline__ CombinedSums(int sources, const float* largestOf, const float* totalOf,
                                          int stride, Sums sumsOf)
      : largest(minusInfinity()), total(0.0f), sums{0.0f, 0.0f, 0.0f, 0.0f} {
    for (int i = 0; i < sources; ++i)
      largest = fmaxf(largest, largestOf[i * stride]);
#pragma unroll 8
    for (int i = 0; i < sources; ++i) {
      const float weight = powerOfTwo(largestOf[i * stride] - largest);
      const float4 part = sumsOf(i);
      total = __fmaf_rn(weight, totalOf[i * stride], total);
      sums.x = __fmaf_rn(weight, part.x, sums.x);
      sums.y = __fmaf_rn(weight, part.y, sums.y);
      sums.z = __fmaf_rn(weight, part.z, sums.z);
      sums.w = __fmaf_rn(weight, part.w, sums.w);
    }
  }
  __device__ __forceinline__ float4 quotient() const {
    return {sums.x / total, sums.y / total, sums.z / total, sums.w / total};
  }
};

/// Combines the warps' sums and stores them where the row has one part; else leaves them with
/// `exchange`, and stores the vectors that fall to this block, of all parts in ascending order.
/// `store(h, d, sums)` takes four results of head h from element d on.
template <typename Attention, int heads, int valueSize, int warps, typename Exchange, typename Store>
__device__ __forceinline__ void finishDecode(const typename Attention::Shared& shared,
                                             Exchange& exchange, int part, int parts, Store store) {
  constexpr int headVectors = valueSize / 4, vectors = heads * headVectors;
#pragma unroll 1
  for (int i = threadIdx.x; i < vectors; i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    const CombinedSums own(warps, &shared.largest[0][h], &shared.total[0][h], 8, [&](int w) {
      return *reinterpret_cast<const float4*>(&shared.ofWarp[w].sums[h][d]);
    });
    if (parts == 1)
      store(h, d, own.quotient());
    else
      exchange.leave(part, parts, i, own);
  }
  if (parts == 1 || !exchange.collect(part, parts))
    return;
#pragma unroll 1
  for (int i = exchange.first(part, parts) + threadIdx.x; i < exchange.behind(part, parts);
       i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    const CombinedSums all(parts, exchange.largestOf(h), exchange.totalOf(h), exchange.stride,
                           [&](int p) { return exchange.sumsOf(p, parts, i); });
    store(h, d, all.quotient());
  }
}

/// Parts that blocks exchange through memory of the kernel; the one that comes last has all of them.
template <int heads, int valueSize, int splits, int threads> struct MemoryExchange {
  static constexpr int headVectors = valueSize / 4, vectors = heads * headVectors;
  static constexpr int stride = heads;

  struct alignas(16) Scratch { ///< of a unit
    float4 sums[splits][vectors];
    float largest[splits * heads], total[splits * heads];
  };
  struct Shared {
    float largest[splits * heads], total[splits * heads];
  };

  Scratch* scratch;
  unsigned* arrivals; ///< zero before and after
  Shared& shared;

  __device__ __forceinline__ void leave(int part, int, int i, const CombinedSums& own) {
    __stcg(&scratch->sums[part][i], own.sums);
    if (i % headVectors == 0) {
      __stcg(&scratch->largest[part * heads + i / headVectors], own.largest);
      __stcg(&scratch->total[part * heads + i / headVectors], own.total);
    }
  }
  /// True in the block that is to store the results.
  __device__ __forceinline__ bool collect(int, int parts) {
    if (!arrivesLast(arrivals, parts))
      return false;
    for (int i = threadIdx.x; i < parts * heads; i += threads) {
      shared.largest[i] = __ldcg(&scratch->largest[i]);
      shared.total[i] = __ldcg(&scratch->total[i]);
    }
    __syncthreads();
    return true;
  }
  __device__ __forceinline__ int first(int, int) const { return 0; }
  __device__ __forceinline__ int behind(int, int) const { return vectors; }
  __device__ __forceinline__ const float* largestOf(int h) const { return shared.largest + h; }
  __device__ __forceinline__ const float* totalOf(int h) const { return shared.total + h; }
  __device__ __forceinline__ float4 sumsOf(int part, int, int i) const {
    return __ldcg(&scratch->sums[part][i]);
  }
};

} // namespace tenon
