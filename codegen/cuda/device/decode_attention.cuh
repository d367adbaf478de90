// Attention of single rows on tensor cores: 16-bit factors, f32 sums, online softmax (Milakov and
// Gimelshein 2018, arXiv 1805.02867).
#pragma once
#include "decode_combine.cuh"
#include "decode_keys.cuh"

namespace tenon {

/// Transposes an 8 x 8 matrix of 16-bit elements: thread (g, t) = (lane / 4, lane % 4) gives row g,
/// columns 2 t and + 1, and gets column g, rows 2 t and + 1.
__device__ __forceinline__ unsigned transposeMatrix(unsigned rows) {
  unsigned columns;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(columns) : "r"(rows));
  return columns;
}

/// Attention of up to 8 query heads that share a key head, for single rows. A warp takes a turn of
/// `Keys::sets` steps of 16 keys at once, on its own: one largest score for all of them. As soon as a
/// step is done, the one of the next turn is on its way into its registers or place in the ring.
///
/// The row's last key, mostly its own, which the kernel in front has only just made, is in no step:
/// one warp takes its scores, and it counts after the warps' sums.
///
/// Keys and values are the instruction's first factor, queries and weights the second one, of eight
/// columns. Weights are exact to twice the bits of T: their upper bits, and what those lack. Up to
/// four heads have two columns each, 2 h and 2 h + 1: of one half of the query's words and of the
/// other, then of weights' upper bits and of what those lack. More heads have one, and values are
/// multiplied twice.
///
/// Thread (g, t) = (lane / 4, lane % 4) holds the scores and sums of columns 2 t and + 1: of head
/// t, or of heads 2 t and + 1.
///
/// `mayHide`: scores may be -inf.
template <typename Keys, int heads, bool mayHide = false> struct DecodeAttention {
  static_assert(heads <= 8, "fits the instruction");
  using T = typename Keys::Element;
  using Operands = typename Keys::Operands;
  static constexpr int keySize = Keys::keySize, valueSize = Keys::valueSize, warps = Keys::warps;
  static constexpr int sets = Keys::sets, step = Keys::step;
  static constexpr bool paired = heads <= 4;  ///< two columns a head
  static constexpr int held = paired ? 1 : 2; ///< heads of a thread
  static constexpr int valueTiles = Keys::valueTiles;

  static constexpr int sumVectors = heads * (valueSize + 4) / 4;
  union Warp {
    uint4 ring[Keys::ringVectors > sumVectors ? Keys::ringVectors : sumVectors]; // stages
    float sums[heads][valueSize + 4]; // after the last step; the banks of heads differ
  };
  struct alignas(16) Shared {
    Warp ofWarp[warps];
    float largest[warps][8], total[warps][8];
    float last[8];                // exponents of the row's last key
    T query[heads][keySize + 16]; // as they do here
    typename Keys::Made made;
  };

  Shared& shared;
  Keys keys;
  Operands operands[sets];
  /// Elements 64 c + 8 g + 2 j, + 1, in tile 4 c + j, after the chunks (valueRest / 8) g + 2 j, +
  /// 1: each of columns 2 t and + 1.
  float sums[valueTiles][4] = {};
  float largest[held], total[held];

  __device__ __forceinline__ explicit DecodeAttention(Shared& memory)
      : shared(memory),
        keys{memory.made,
             reinterpret_cast<typename Keys::Stage*>(memory.ofWarp[threadIdx.x / 32].ring)} {
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] = minusInfinity(), total[h] = 0.0f;
  }

  /// The head of a column, and of a thread's heads: `heads` or more for none.
  static __device__ __forceinline__ int headOf(int column) { return paired ? column / 2 : column; }
  static __device__ __forceinline__ int heldHead(int h) {
    return held * static_cast<int>(threadIdx.x % 4) + h;
  }

  /// Begins to bring the first keys and values: of steps for which `wanted(first)`.
  template <typename Wanted> __device__ __forceinline__ void start(Wanted wanted) {
    keys.start(operands, wanted);
  }

  /// Products of keys g and g + 8 with two columns a head. The instruction's rows g and g + 8 are
  /// one key's words x, z and y, w, in the registers into which they were loaded; columns 2 h and 2
  /// h + 1 a query's: thread (g, t) has sums of both rows, each of its own column. Columns after
  /// the last head repeat it; a query's words that no key has meet zeros.
  template <typename Of>
  __device__ __forceinline__ void multiplyPaired(float (&products)[2][held], const Of& of) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const T* const query = shared.query[min(headOf(g), heads - 1)];
    auto wordsAt = [&](int k) { return reinterpret_cast<const unsigned*>(query + k) + g % 2; };
    unsigned words[Keys::keyChunks + 1][2]; // the last ones of what is left
#pragma unroll
    for (int c = 0; c < Keys::keyChunks; ++c) {
      const unsigned* const at = wordsAt(Keys::hasKeyChunk(c) ? 32 * c + 8 * t : 0);
      words[c][0] = at[0], words[c][1] = at[2];
    }
    if (Keys::keyRest > 0)
      words[Keys::keyChunks][0] = *wordsAt(32 * Keys::keyChunks + 4 * t);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float dots[4] = {};
#pragma unroll
      for (int c = 0; c < Keys::keyChunks; ++c) {
        const uint4& key = of.key[i][c];
        multiplyAdd<T>(dots, {key.x, key.y, key.z, key.w}, words[c]);
      }
      if (Keys::keyRest > 0) {
        const uint4& key = of.key[i][Keys::keyChunks];
        multiplyAdd<T>(dots, {key.x, key.y}, words[Keys::keyChunks][0]);
      }
      products[i][0] = dots[0] + dots[3];
    }
  }
  /// The same with one column a head: rows are keys.
  template <typename Of>
  __device__ __forceinline__ void multiplySingle(float (&products)[2][held], const Of& of) const {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float dots[2][4] = {}; // two sums, so that one instruction need not wait for the last
#pragma unroll
    for (int c = 0; c < Keys::keyChunks; ++c) {
      const uint4 q = g < heads && Keys::hasKeyChunk(c)
                          ? *reinterpret_cast<const uint4*>(&shared.query[g][32 * c + 8 * t])
                          : uint4{0, 0, 0, 0};
      const uint4 a = of.key[0][c], b = of.key[1][c];
      multiplyAdd<T>(dots[0], {a.x, b.x, a.y, b.y}, {q.x, q.y});
      multiplyAdd<T>(dots[1], {a.z, b.z, a.w, b.w}, {q.z, q.w});
    }
    if (Keys::keyRest > 0) {
      const uint2 q =
          g < heads
              ? *reinterpret_cast<const uint2*>(&shared.query[g][32 * Keys::keyChunks + 4 * t])
              : uint2{0, 0};
      const uint4 a = of.key[0][Keys::keyChunks];
      const uint4 b = of.key[1][Keys::keyChunks];
      multiplyAdd<T>(dots[0], {a.x, b.x, a.y, b.y}, {q.x, q.y});
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int h = 0; h < held; ++h)
        products[i][h] = dots[0][2 * i + h] + dots[1][2 * i + h];
  }

  /// Products of keys g and g + 8 of 16, each with the queries of a thread's heads.
  template <typename Of>
  __device__ __forceinline__ void multiply(float (&products)[2][held], const Of& of) const {
    if constexpr (paired)
      multiplyPaired(products, of);
    else
      multiplySingle(products, of);
  }

  /// Makes products of keys g and g + 8 of 16 from `first` on, each for a thread's heads, scores;
  /// -inf after the end.
  template <typename Scores>
  __device__ __forceinline__ void score(float (&scores)[2][held], const Operands& of, int first,
                                        Scores scale) const {
    if constexpr (Keys::hasScales)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int h = 0; h < held; ++h)
          scores[i][h] *= of.keyScale[i];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int h = 0; h < held; ++h)
        scores[i][h] = first + Keys::keyRow(i) < keys.end
                           ? scale.score(scores[i][h], heldHead(h), first + Keys::keyRow(i))
                           : minusInfinity();
  }

  /// Makes the sums relative to the largest score of a turn's and those before. `isFirst`: of a
  /// warp, so that there are no sums yet.
  template <typename Scores>
  __device__ __forceinline__ void raise(const float (&scores)[sets][2][held], Scores scale,
                                        bool isFirst) {
    float most[held];
    bool rises = false; // above what the sums are relative to
#pragma unroll
    for (int h = 0; h < held; ++h) {
      most[h] = largest[h];
#pragma unroll
      for (int set = 0; set < sets; ++set)
        most[h] = fmaxf(most[h], fmaxf(scores[set][0][h], scores[set][1][h]));
#pragma unroll
      for (int offset = 4; offset <= 16; offset *= 2)
        most[h] = fmaxf(most[h], __shfl_xor_sync(0xFFFFFFFFu, most[h], offset));
      if constexpr (mayHide)
        most[h] = fmaxf(most[h], leastLargest());
      rises |= most[h] != largest[h];
    }
    if (!isFirst && __any_sync(0xFFFFFFFFu, rises)) {
#pragma unroll
      for (int h = 0; h < held; ++h) {
        const float correction = powerOfTwo((largest[h] - most[h]) * scale.factor());
        total[h] *= correction;
#pragma unroll
        for (int tile = 0; tile < valueTiles; ++tile)
#pragma unroll
          for (int i = h; i < 4; i += held)
            sums[tile][i] *= correction;
      }
    }
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] = most[h];
  }

  /// Weights of 16 keys as the instruction's second factors: with two columns a head `upper` has
  /// both, else `rest` what the upper bits lack.
  struct Factors {
    unsigned upper[2], rest[2];
  };
  template <typename Scores>
  __device__ __forceinline__ Factors weigh(const float (&scores)[2][held], const Operands& of,
                                           Scores scale) {
    using V = typename Keys::ValueElement;
    Factors factors;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float weights[held], lacking[held];
#pragma unroll
      for (int h = 0; h < held; ++h) {
        weights[h] = powerOfTwo((scores[i][h] - largest[h]) * scale.factor());
        const float weight = weights[h];
        if constexpr (Keys::hasScales)
          weights[h] *= of.valueScale[i];
        lacking[h] = weights[h] - roundTo<V>(weights[h]);
        total[h] += weight;
      }
      if constexpr (paired) {
        factors.upper[i] = transposeMatrix(pairFromFloat<V>(weights[0], lacking[0]));
      } else {
        factors.upper[i] = transposeMatrix(pairFromFloat<V>(weights[0], weights[1]));
        factors.rest[i] = transposeMatrix(pairFromFloat<V>(lacking[0], lacking[1]));
      }
    }
    return factors;
  }

  /// Adds elements of 16 values, of each two elements in one word, times their weights to a tile.
  __device__ __forceinline__ void addTile(int tile, const unsigned (&words)[4],
                                          const Factors& factors) {
    const unsigned elements[4] = {
        __byte_perm(words[0], words[1], 0x5410), __byte_perm(words[0], words[1], 0x7632),
        __byte_perm(words[2], words[3], 0x5410), __byte_perm(words[2], words[3], 0x7632)};
    using V = typename Keys::ValueElement;
    multiplyAdd<V>(sums[tile], elements, factors.upper);
    if constexpr (!paired)
      multiplyAdd<V>(sums[tile], elements, factors.rest);
  }
  static __device__ __forceinline__ unsigned wordOf(const uint4& vector, int word) {
    return word == 0 ? vector.x : word == 1 ? vector.y : word == 2 ? vector.z : vector.w;
  }
  __device__ __forceinline__ void addValues(const Operands& of, const Factors& factors) {
#pragma unroll
    for (int tile = 0; tile < valueTiles; ++tile) {
      const int c = tile / 4, j = tile % 4;
      auto add = [&](const auto& v0, const auto& v1, const auto& v2, const auto& v3) {
        addTile(tile, {wordOf(v0, j), wordOf(v1, j), wordOf(v2, j), wordOf(v3, j)}, factors);
      };
      add(of.value[0][c], of.value[1][c], of.value[2][c], of.value[3][c]);
    }
  }

  /// Whether a turn from `first` on has keys for a set.
  __device__ __forceinline__ bool hasSet(int first, int set) const {
    return set == 0 || first + set * Keys::setKeys < keys.end;
  }
  /// Attends to a turn from `first` on with sets that hold its keys and values, or one into which
  /// they go from `slot` of the ring, which it moves on; asks for those that the sets or slot take
  /// next.
  template <typename Scores>
  __device__ __forceinline__ void attendTurn(int first, bool isFirst, int& slot, Scores scale) {
    const int next = first + (Keys::stages > 0 ? Keys::stages : sets) * Keys::setKeys;
    const bool inRing = Keys::stages > 0 && !isFirst;
    float scores[sets][2][held];
    if (inRing) {
      keys.takeKeys(operands[0], slot);
      keys.copyKeys(slot, next);
    }
#pragma unroll
    for (int set = 0; set < sets; ++set) {
#pragma unroll
      for (int h = 0; h < held; ++h)
        scores[set][0][h] = scores[set][1][h] = minusInfinity();
      if (!hasSet(first, set))
        break;
      keys.takeNewKeys(operands[set], first + set * Keys::setKeys);
      multiply(scores[set], operands[set]);
      score(scores[set], operands[set], first + set * Keys::setKeys, scale);
    }
    if (Keys::stages == 0)
#pragma unroll
      for (int set = 0; set < sets; ++set)
        keys.loadKeys(operands[set], next + set * Keys::setKeys);
    raise(scores, scale, isFirst);
    if (inRing) {
      keys.takeValues(operands[0], slot);
      keys.copyValues(slot, next);
      slot = slot + 1 < Keys::stages ? slot + 1 : 0;
    }
#pragma unroll
    for (int set = 0; set < sets; ++set) {
      if (!hasSet(first, set))
        break;
      keys.takeNewValues(operands[set], first + set * Keys::setKeys);
      addValues(operands[set], weigh(scores[set], operands[set], scale));
      if (Keys::stages == 0)
        keys.loadValues(operands[set], next + set * Keys::setKeys);
    }
  }

  /// Leaves the exponents of the row's last key in shared memory: the instruction's rows all are
  /// that key.
  template <typename Scores> __device__ __forceinline__ void scoreLast(Scores scale) const {
    typename Keys::KeyVectors last;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      Keys::takeKey(last, i, Keys::vectorsOf(keys.made.keys[keys.lastRow]), Keys::inOrder,
                    Keys::fromShared);
    float products[2][held];
    multiply(products, last);
    if constexpr (Keys::hasScales)
#pragma unroll
      for (int h = 0; h < held; ++h)
        products[0][h] *= keys.made.keyScale;
    if (threadIdx.x % 32 < 4)
#pragma unroll
      for (int h = 0; h < held; ++h)
        if (const int head = heldHead(h); head < heads)
          shared.last[head] = scale.score(products[0][h], head, keys.end) * scale.factor();
  }

  /// The row's last key falls to the warp after the one that has the last step.
  template <typename Scores> __device__ __forceinline__ void attendLast(Scores scale) const {
    const int steps = (keys.end - keys.begin + step - 1) / step;
    if (keys.lastRow >= 0 && static_cast<int>(threadIdx.x) / 32 == steps % warps)
      scoreLast(scale);
  }

  /// Attends to the part's keys, the first of which `start` has asked for.
  template <typename Scores> __device__ __forceinline__ void attend(Scores scale) {
    static_assert(mayHide || !Scores::mayHide, "sums know of hidden keys");
    const int own = keys.firstKey();
    int slot = 0;
    attendLast(scale);
#pragma unroll 1
    for (int first = own; first < keys.end; first += Keys::turnKeys)
      attendTurn(first, first == own, slot, scale);
#pragma unroll
    for (int h = 0; h < held; ++h)
      largest[h] *= scale.factor();
  }

  /// Of a thread's head `h`, the sums of its two elements of a tile.
  __device__ __forceinline__ float2 pairOf(int tile, int h) const {
    const float (&of)[4] = sums[tile];
    return paired ? float2{of[0] + of[1], of[2] + of[3]} : float2{of[h], of[h + 2]};
  }
  __device__ __forceinline__ void shareSums(float* target, int h, int g) const {
    auto store = [&](int element, int tile) {
      const float2 low = pairOf(tile, h), high = pairOf(tile + 1, h);
      *reinterpret_cast<float4*>(target + element) = {low.x, low.y, high.x, high.y};
    };
#pragma unroll
    for (int c = 0; c < Keys::valueChunks; ++c)
      if (Keys::hasValueChunk(c))
#pragma unroll
        for (int j = 0; j < 4; j += 2)
          store(64 * c + 8 * g + 2 * j, 4 * c + j);
    constexpr int tiles = 4 * Keys::valueChunks, elements = 64 * Keys::valueChunks;
    if constexpr (Keys::valueRest == 16)
      *reinterpret_cast<float2*>(target + elements + 2 * g) = pairOf(tiles, h);
    else if constexpr (Keys::valueRest == 32)
      store(elements + 4 * g, tiles);
  }
  /// Leaves the warp's sums in shared memory.
  __device__ __forceinline__ void share() {
    shareBy([&](float* target, int h, int g) { shareSums(target, h, g); });
  }
  /// The same, of a thread's head by `store(target, h, g)`.
  template <typename Store> __device__ __forceinline__ void shareBy(Store store) {
    const int g = threadIdx.x % 32 / 4, warp = threadIdx.x / 32;
#pragma unroll
    for (int h = 0; h < held; ++h) {
#pragma unroll
      for (int offset = 4; offset <= 16; offset *= 2)
        total[h] += __shfl_xor_sync(0xFFFFFFFFu, total[h], offset);
      const int head = heldHead(h);
      if (g == 0) {
        shared.largest[warp][head] = largest[h];
        shared.total[warp][head] = total[h];
      }
      if (head < heads)
        store(shared.ofWarp[warp].sums[head], h, g);
    }
    __syncthreads();
  }

  /// The part's sums of elements d to d + 3 of a head, of all warps.
  __device__ __forceinline__ CombinedSums partSums(int h, int d) const {
    const bool hasLast = keys.lastRow >= 0;
    const float least = mayHide ? leastLargest() : minusInfinity();
    CombinedSums sums(hasLast ? mayHide ? fmaxf(shared.last[h], least) : shared.last[h] : least,
                      warps, &shared.largest[0][h], 8);
    sums.addAll(warps, &shared.largest[0][h], &shared.total[0][h], 8, [&](int w) {
      return *reinterpret_cast<const float4*>(&shared.ofWarp[w].sums[h][d]);
    });
    if (hasLast) {
      float value[4];
      loadVector(value, &shared.made.values[keys.lastRow][d]);
      if constexpr (Keys::hasScales)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          value[i] *= shared.made.valueScale;
      sums.add(shared.last[h], 1.0f, {value[0], value[1], value[2], value[3]});
    }
    return sums;
  }
};

} // namespace tenon
