// How warps of decode attention load keys and values.
#pragma once
#include "cache_heads.cuh"
#include "kv_cache.cuh"
#include "mma.cuh"
#include "new_keys.cuh"

namespace tenon {

/// How the heads of a cache become factors of tensor cores: elements T as they are.
template <typename T, typename Head> struct HeadFactors {
  static constexpr bool hasScales = false;
  using Memory = T;
  using ValueElement = T; ///< of values and weights as factors
  struct Scales {};       ///< of a thread
  struct LastScales {};   ///< of the row's last key and value
};

/// Quants, as numbers, which 16 bits hold. Scores and weights are multiplied with the scales of
/// their heads: such weights need the range of BF16.
struct CachedQuants {
  static constexpr bool hasScales = true;
  using Memory = unsigned char;
  using ValueElement = BF16;
  struct Scales {
    float keyScale[2], valueScale[2]; ///< of keys g and g + 8 of a step
  };
  struct LastScales {
    float keyScale, valueScale;
  };
};
template <typename T, int size> struct HeadFactors<T, Int8Head<size>> : CachedQuants {};
template <typename T, int size> struct HeadFactors<T, E4M3Head<size>> : CachedQuants {};
template <typename T, int size> struct HeadFactors<T, Int4Head<size>> : CachedQuants {};

/// Keys and values of a row's sequence and key head on their way into the registers of warps. Each
/// warp takes 16 keys at a time, a step, on its own: the first ones straight into registers, those
/// after them through a ring of steps in shared memory that it fills by asynchronous copies; or,
/// with no ring, into registers, too: some sets of them, a turn of a warp.
///
/// Threads take keys and values 16 bytes at a time, chunks of 32 and 64 elements, and what is left
/// of them, `keyRest` and `valueRest` elements, 4 or 8 bytes at a time: an element of the depth
/// stands at another place in the instruction's factors than in memory, in both alike.
///
/// `Config` has
///   Element               F16 or BF16, the type of queries and results;
///   Cache                 where rows lie (kv_cache.cuh);
///   KeyHead, ValueHead    what the cache holds: Element, or heads of quants, which the kernel does
///                         not make (`DecodeQuants`);
///   keySize, valueSize    of a head, multiples of 8;
///   warps                 of a block;
///   sets                  of registers, 1 where there is a ring;
///   stages                steps of the ring, or 0;
///   newRows               rows of the call whose keys and values the kernel makes;
///   amongSteps            whether they may stand among the steps' keys. What the cache holds at
///                         their places is loaded like any other key and then replaced: so loads
///                         stand one after the other, without a branch between them;
///   runBytes              how much of memory is read at a time, 256, where other blocks ask for
///                         the rest of those at about the same time; or 0.
template <typename Config> struct DecodeKeys {
  using Element = typename Config::Element;
  using T = Element;
  using Cache = typename Config::Cache;
  using KeyHead = typename Config::KeyHead;
  using ValueHead = typename Config::ValueHead;
  using Keys = HeadFactors<T, KeyHead>;
  using Values = HeadFactors<T, ValueHead>;
  using ValueElement = typename Values::ValueElement;
  static constexpr bool hasScales = Keys::hasScales;
  static constexpr int keySize = Config::keySize, valueSize = Config::valueSize;
  static constexpr int warps = Config::warps, sets = Config::sets, stages = Config::stages;
  static constexpr int newRows = Config::newRows, runBytes = Config::runBytes;
  static constexpr bool amongSteps = Config::amongSteps;
  static_assert(keySize % 8 == 0 && valueSize % 8 == 0, "whole vectors");
  static_assert(Keys::hasScales == Values::hasScales, "keys and values of one kind");
  static_assert(!hasScales || newRows == 0, "quants come from the cache");
  static_assert(sets == 1 || stages == 0, "steps behind the first are in registers or in a ring");
  static_assert(runBytes == 0 || runBytes == 256, "what a load can ask for");
  static constexpr int keyRest = keySize % 32 == 16 ? 16 : 0;
  static constexpr int valueRest =
      valueSize % 64 == 16 || valueSize % 64 == 32 ? valueSize % 64 : 0;
  static constexpr int keyChunks = (keySize - keyRest + 31) / 32;
  static constexpr int valueChunks = (valueSize - valueRest + 63) / 64;
  static constexpr int valueTiles = 4 * valueChunks + valueRest / 16; ///< of the instruction
  static constexpr int step = 16;                                     ///< keys of a warp at a time
  static constexpr int setKeys = warps * step;                        ///< of all warps
  static constexpr int turnKeys = sets * setKeys;
  // Of a key or value in the ring, in vectors of 16 bytes: how many, and from one to the next.
  // Eight threads that read at once find eight vectors in banks that differ (`keyAt`, `valueAt`).
  static constexpr int keyVectors = keySize / 8, valueVectors = valueSize / 8;
  static constexpr int keyPitch = keyVectors % 8 == 0 ? keyVectors : (keyVectors + 3) / 8 * 8 + 4;
  static constexpr int valuePitch = valueVectors % 8 == 0 ? valueVectors : valueVectors | 1;

  struct Stage {
    uint4 keys[step * keyPitch], values[step * valuePitch];
  };
  static constexpr int ringVectors = stages * int(sizeof(Stage) / sizeof(uint4));

  /// In shared memory: those that the kernel makes, and after them the row's last one where the
  /// kernel does not make that.
  struct MadeRows {
    T keys[newRows + 1][keySize], values[newRows + 1][valueSize];
    int places[newRows + 1];
  };
  struct Made : MadeRows, Keys::LastScales {};

  /// A thread's part of a step's keys and values; the last chunks for what is left.
  struct Operands : Keys::Scales {
    uint4 key[2][keyChunks + 1];
    uint4 value[4][valueChunks + 1];
  };
  /// Two keys in vectors.
  struct KeyVectors {
    uint4 key[2][keyChunks + 1];
  };

  Made& made;
  Stage* ring; ///< of the warp
  /// Of the row's sequence and key head.
  HeadRows<Cache, typename Keys::Memory, headUnits<KeyHead, keySize>> cachedKeys;
  HeadRows<Cache, typename Values::Memory, headUnits<ValueHead, valueSize>> cachedValues;
  int begin, end; ///< of the part's steps
  int lastRow;    ///< in `made`, of the row's last key, if it is the part's: else -1
  NewKeys<newRows> newKeys;

  /// The part has keys [first, behind), the last of which, with `isLast`, is the row's and stands
  /// apart.
  __device__ __forceinline__ void setRange(int first, int behind, bool isLast,
                                           NewKeys<newRows> rows) {
    begin = first, end = isLast ? behind - 1 : behind, newKeys = rows, lastRow = -1;
    if (!isLast)
      return;
    lastRow = newKeys.find(end);
    if (lastRow < 0)
      lastRow = newRows;
  }
  /// Brings the row's last key and value to shared memory where they are in the cache.
  __device__ __forceinline__ void bringLast() {
    if (lastRow != newRows)
      return;
    if constexpr (hasScales) {
      decodeLast<KeyHead>(made.keys[newRows], made.keyScale, cachedKeys.at(end));
      decodeLast<ValueHead>(made.values[newRows], made.valueScale, cachedValues.at(end));
    } else {
      const int key = threadIdx.x, value = threadIdx.x - 32;
      if (key < keyVectors)
        reinterpret_cast<uint4*>(made.keys[newRows])[key] = vectorsOf(cachedKeys.at(end))[key];
      else if (value >= 0 && value < valueVectors)
        reinterpret_cast<uint4*>(made.values[newRows])[value] =
            vectorsOf(cachedValues.at(end))[value];
    }
  }

  /// The numbers and the scale of a head of quants.
  template <typename Head, int size>
  static __device__ __forceinline__ void decodeLast(T (&target)[size], float& scale,
                                                    const unsigned char* head) {
    using Elements = CacheElements<Head>;
    for (int i = 4 * threadIdx.x; i < size; i += 4 * 32 * warps) {
      float numbers[4];
      Elements::load(numbers, head, i);
      storeVector(target + i, numbers);
    }
    if (threadIdx.x == 0)
      scale = Elements::scaleOf(head);
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

  /// What a thread takes of a key or value from its `row`, a pointer to whole vectors: `at(vector)`
  /// is the place of a vector of 16 bytes, `load(pointer)` the vector.
  template <typename To, typename At, typename Load>
  static __device__ __forceinline__ void takeKey(To& to, int i, const uint4* row, At at,
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
  static __device__ __forceinline__ uint4 fromCache(const uint4* vector) {
    return runBytes == 256 ? loadRun(vector) : *vector;
  }

  /// Loads a step's keys, if the part has any from `first` on; after the last one they repeat it.
  __device__ __forceinline__ void loadKeys(Operands& to, int first) const {
    if (first >= end)
      return;
    const auto rows = cachedKeys.step(first, min(first + step, end));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      takeKey(to, i, vectorsOf(rows.at(min(first + keyRow(i), end - 1))), inOrder, fromCache);
    }
  }
  __device__ __forceinline__ void loadValues(Operands& to, int first) const {
    if (first >= end)
      return;
    const auto rows = cachedValues.step(first, min(first + step, end));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      takeValue(to, i, vectorsOf(rows.at(min(first + valueRow(i), end - 1))), inOrder, fromCache);
    }
  }
  /// Begins to bring a step's rows from `first` on, if there are any: `at(row, vector)` is a
  /// vector's place in `target`.
  template <int vectors, typename Source, typename At>
  __device__ __forceinline__ void copyRows(uint4* target, const Source& source, int first,
                                           At at) const {
    if (first < end) {
      const auto rows = source.step(first, min(first + step, end));
#pragma unroll
      for (int i = threadIdx.x % 32; i < step * vectors; i += 32) {
        const int row = i / vectors, vector = i % vectors, place = min(first + row, end - 1);
        copyAsync(target + at(row, vector), rows.at(place) + 8 * vector, true);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ void copyKeys(int slot, int first) const {
    if constexpr (stages > 0)
      copyRows<keyVectors>(ring[slot].keys, cachedKeys, first, keyAt);
  }
  __device__ __forceinline__ void copyValues(int slot, int first) const {
    if constexpr (stages > 0)
      copyRows<valueVectors>(ring[slot].values, cachedValues, first, valueAt);
  }
  /// Waits for the oldest keys or values on their way: both are counted in turn.
  static __device__ __forceinline__ void waitForCopy() {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages > 0 ? 2 * stages - 1 : 0) : "memory");
    __syncwarp();
  }

  /// A step of the ring into registers.
  __device__ __forceinline__ void takeKeys(Operands& to, int slot) const {
    if constexpr (stages > 0) {
      waitForCopy();
#pragma unroll
      for (int i = 0; i < 2; ++i)
        takeKey(
            to, i, ring[slot].keys, [i](int vector) { return keyAt(keyRow(i), vector); },
            fromShared);
      __syncwarp();
    }
  }
  __device__ __forceinline__ void takeValues(Operands& to, int slot) const {
    if constexpr (stages > 0) {
      waitForCopy();
#pragma unroll
      for (int i = 0; i < 4; ++i)
        takeValue(
            to, i, ring[slot].values, [i](int vector) { return valueAt(valueRow(i), vector); },
            fromShared);
      __syncwarp();
    }
  }
  /// Whether one of a step's keys and values may be one that the kernel makes.
  __device__ __forceinline__ bool mayBeNew(int first) const {
    return amongSteps && newKeys.mayContain(first, min(first + step, end));
  }
  /// The row of the call that made a key or value of a step; -1: none. Places after the end repeat
  /// the last one.
  __device__ __forceinline__ int madeRow(int row, int first) const {
    return newKeys.find(min(first + row, end - 1));
  }
  __device__ __forceinline__ void takeNewKeys(Operands& to, int first) const {
    if constexpr (newRows > 0) {
      if (!mayBeNew(first))
        return;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (const int row = madeRow(keyRow(i), first); row >= 0)
          takeKey(to, i, vectorsOf(made.keys[row]), inOrder, fromShared);
    }
  }
  __device__ __forceinline__ void takeNewValues(Operands& to, int first) const {
    if constexpr (newRows > 0) {
      if (!mayBeNew(first))
        return;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (const int row = madeRow(valueRow(i), first); row >= 0)
          takeValue(to, i, vectorsOf(made.values[row]), inOrder, fromShared);
    }
  }

  /// The warp's first key.
  __device__ __forceinline__ int firstKey() const { return begin + threadIdx.x / 32 * step; }

  /// Whether all keys of a step lie before place `behind`.
  __device__ __forceinline__ bool liesBefore(int first, int behind) const {
    return min(first + step, end) <= behind;
  }
  /// Begins to bring a warp's first keys and values: of steps for which `wanted(first)`.
  template <typename Wanted>
  __device__ __forceinline__ void start(Operands (&operands)[sets], Wanted wanted) const {
#pragma unroll
    for (int set = 0; set < sets; ++set)
      if (const int first = firstKey() + set * setKeys; wanted(first)) {
        loadKeys(operands[set], first);
        loadValues(operands[set], first);
      }
#pragma unroll
    for (int slot = 0; slot < stages; ++slot)
      if (const int first = firstKey() + (slot + 1) * setKeys; wanted(first)) {
        copyKeys(slot, first);
        copyValues(slot, first);
      }
  }
};

} // namespace tenon
