// Attention of single rows over caches of quants, on tensor cores.
#pragma once
#include "decode_attention.cuh"
#include "quant_formats.cuh"
#include "tensor_attention.cuh"

namespace tenon {

template <typename T> constexpr bool isBF16 = false;
template <> inline constexpr bool isBF16<BF16> = true;

/// word & mask ^ bits, which is one instruction only where it is asked for.
__device__ __forceinline__ unsigned maskedXor(unsigned word, unsigned mask, unsigned bits) {
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(word), "r"(mask), "r"(bits), "n"(0x6A));
  return result;
}

/// Quants of a word of a head as pairs of numbers of type T, exactly: of each 16 bits of `word` the
/// first quant is in `numbers[0]`, the next one in the next. Numbers times `unit` are the quants.
template <typename Head, typename T> struct QuantPairs;

/// In F16 1024 and the quant plus 128, less 1152.
template <int size> struct QuantPairs<Int8Head<size>, F16> {
  static constexpr float unit = 1.0f;
  static __device__ __forceinline__ void decode(unsigned (&numbers)[2], unsigned word) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      numbers[i] = addPairs<F16>(maskedXor(word >> 8 * i, 0x00FF00FFu, 0x64806480u), 0xE480E480u);
  }
};
/// In BF16 the seven lower bits and 128, less 128 or, where the quant is negative, 256.
template <int size> struct QuantPairs<Int8Head<size>, BF16> {
  static constexpr float unit = 1.0f;
  static __device__ __forceinline__ void decode(unsigned (&numbers)[2], unsigned word) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      numbers[i] = addPairs<BF16>(maskedXor(word >> 8 * i, 0x007F007Fu, 0x43004300u),
                                  maskedXor(word >> 8 * i, 0x00800080u, 0xC300C300u));
  }
};
/// The bits of an E4M3 number are those of an F16 one 256 times too small, of a BF16 one 2^120
/// times.
template <int size> struct QuantPairs<E4M3Head<size>, F16> {
  static constexpr float unit = 256.0f;
  static __device__ __forceinline__ void decode(unsigned (&numbers)[2], unsigned word) {
    numbers[0] = maskedXor(word << 8, 0x80008000u, word << 7 & 0x3F803F80u);
    numbers[1] = maskedXor(word, 0x80008000u, word >> 1 & 0x3F803F80u);
  }
};
template <int size> struct QuantPairs<E4M3Head<size>, BF16> {
  static constexpr float unit = 1.0f;
  static __device__ __forceinline__ void decode(unsigned (&numbers)[2], unsigned word) {
    constexpr unsigned power = 0x7B80; // 2^120
    numbers[0] = scaledBF16<power>(maskedXor(word << 8, 0x80008000u, word << 4 & 0x07F007F0u));
    numbers[1] = scaledBF16<power>(maskedXor(word, 0x80008000u, word >> 4 & 0x07F007F0u));
  }
};

/// In F16 1024 and the quant plus 8, in BF16 128 and that.
template <int size, typename T> struct QuantPairs<Int4Head<size>, T> {
  static constexpr float unit = 1.0f;
  static __device__ __forceinline__ void decode(unsigned (&numbers)[4], unsigned word) {
    constexpr unsigned upper = isBF16<T> ? 0x43004300u : 0x64006400u;
    constexpr unsigned less = isBF16<T> ? 0xC308C308u : 0xE408E408u;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      numbers[i] = addPairs<T>(maskedXor(word >> 4 * i, 0x000F000Fu, upper), less);
  }
};

/// Keys and values of quants on their way to the warps of a block: each warp takes 16 keys at a
/// time, a step, through a ring of its own of `Config::stages` steps in shared memory, which it
/// fills by asynchronous copies of words, coalesced: heads of quants begin at multiples of 4 bytes.
template <typename Config> struct DecodeQuants : DecodeKeys<Config> {
  using Base = DecodeKeys<Config>;
  using Base::keySize, Base::valueSize, Base::stages, Base::step, Base::end;
  using typename Base::KeyHead, typename Base::ValueHead;
  static_assert(stages > 0, "steps are in a ring");
  /// Vectors of 16 bytes that a head's quants fill, and from one key to the next: an odd number, so
  /// that eight rows of ldmatrix lie in banks that differ.
  static constexpr int keyBytes = headUnits<KeyHead, keySize> - 4;
  static constexpr int valueBytes = headUnits<ValueHead, valueSize> - 4;
  static constexpr int keyVectors = (keyBytes + 15) / 16, valueVectors = (valueBytes + 15) / 16;
  static constexpr int keyPitch = keyVectors | 1, valuePitch = valueVectors | 1;
  static constexpr int vectorTiles =
      keySize / keyBytes; ///< of the instruction, that a vector fills
  static constexpr int valueTiles = valueVectors * vectorTiles;

  struct Step {
    uint4 keys[step * keyPitch], values[step * valuePitch];
    float keyScales[step], valueScales[step];
  };
  static constexpr int ringVectors = stages * int(sizeof(Step) / sizeof(uint4));

  __device__ __forceinline__ Step& stepIn(int slot) const {
    return reinterpret_cast<Step*>(this->ring)[slot];
  }

  /// Begins to bring the words of a step's rows after their scales: `at(row)` is where a row lies.
  template <int words, int pitch, typename At>
  static __device__ __forceinline__ void copyWords(uint4* target, int count, At at) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(target));
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < count * words; i += 32) {
      const int row = i / words, word = i % words;
      copyRunWord(to + 16 * pitch * row + 4 * word, at(row) + 4 + 4 * word);
    }
  }
  /// The same of a whole step whose rows lie `stride` bytes apart, from `source` on: all addresses
  /// are a lane's and a constant, where lanes are whole rows or rows whole turns of lanes.
  template <int words, int pitch, long long stride>
  static __device__ __forceinline__ void copyRun(uint4* target, const unsigned char* source) {
    if constexpr (32 % words != 0) {
      copyWords<words, pitch>(target, step, [&](int row) { return source + row * stride; });
    } else {
      constexpr int rows = 32 / words; // of a turn
      const int row = threadIdx.x % 32 / words, word = threadIdx.x % words;
      const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(target));
#pragma unroll
      for (int i = 0; i < step; i += rows)
        if (rows <= step || row < step)
          copyRunWord(to + 16 * pitch * row + 4 * word + 16 * pitch * i,
                      source + row * stride + 4 + 4 * word + i * stride);
    }
  }
  /// Begins to bring a step from key `first` on into a slot, if the part has any.
  __device__ __forceinline__ void copyStep(int slot, int first) const {
    if (first < end) {
      Step& to = stepIn(slot);
      const int count = min(step, end - first), lane = threadIdx.x % 32;
      const auto keys = this->cachedKeys.step(first, first + count);
      const auto values = this->cachedValues.step(first, first + count);
      if (count == step && keys.isRun(first + step)) {
        copyRun<keyBytes / 4, keyPitch, keys.stride>(to.keys, keys.at(first));
        copyRun<valueBytes / 4, valuePitch, values.stride>(to.values, values.at(first));
      } else {
        copyWords<keyBytes / 4, keyPitch>(to.keys, count,
                                          [&](int row) { return keys.at(first + row); });
        copyWords<valueBytes / 4, valuePitch>(to.values, count,
                                              [&](int row) { return values.at(first + row); });
      }
      if (lane % step < count)
        copyRunWord(static_cast<unsigned>(__cvta_generic_to_shared(to.keyScales + lane)),
                    lane < step ? keys.at(first + lane) : values.at(first + lane - step));
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  /// Waits for the oldest step on its way.
  static __device__ __forceinline__ void waitForStep() {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    __syncwarp();
  }
  /// Begins to bring a warp's first keys and values: of steps for which `wanted(first)`.
  template <typename Wanted> __device__ __forceinline__ void start(Wanted wanted) const {
#pragma unroll
    for (int slot = 0; slot < stages; ++slot)
      if (const int first = this->firstKey() + slot * Base::setKeys; wanted(first))
        copyStep(slot, first);
  }

  /// Vectors `first` and, where a row has it, `first` + 1 of 16 rows, as matrices of eight rows
  /// each: word 2 i + j of rows 8 j and on has vector `first` + i.
  template <int vectors>
  static __device__ __forceinline__ const uint4* rowOf(const uint4* rows, int first) {
    const int lane = threadIdx.x % 32;
    return rows + lane % 16 * (vectors | 1) + first + (first + 1 < vectors ? lane / 16 : 0);
  }
};

/// DecodeAttention over quants. A step's matrices come to registers as ldmatrix gives them, keys'
/// as they lie, values' transposed, and are there made numbers of 16 bits. Queries stay in
/// registers.
///
/// With up to four heads column 2 h has head h of the queries, and column 2 h + 1 zeros.
template <typename Keys, int heads, bool mayHide = false>
struct QuantAttention : DecodeAttention<Keys, heads, mayHide> {
  using Base = DecodeAttention<Keys, heads, mayHide>;
  using Base::keys, Base::sums, Base::shared, Base::held, Base::paired;
  using typename Base::T, typename Base::Operands, typename Base::Shared;
  using KeyPairs = QuantPairs<typename Keys::KeyHead, T>;
  using ValuePairs = QuantPairs<typename Keys::ValueHead, typename Keys::ValueElement>;
  static constexpr int numbers = 2 * Keys::vectorTiles; ///< pairs that a word makes
  static constexpr int keyTiles = Keys::keyVectors * Keys::vectorTiles;

  unsigned queries[keyTiles][2]; ///< the instruction's second factors

  __device__ __forceinline__ explicit QuantAttention(Shared& memory) : Base(memory) {}

  template <typename Wanted> __device__ __forceinline__ void start(Wanted wanted) {
    keys.start(wanted);
  }

  /// The queries in the order of the numbers that words of keys make.
  __device__ __forceinline__ void takeQueries() {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int head = Base::headOf(g);
    const bool exists = head < heads && (!paired || g % 2 == 0);
#pragma unroll
    for (int vector = 0; vector < Keys::keyVectors; ++vector) {
      const int first = 4 * Keys::vectorTiles * (4 * vector + t);
      unsigned words[numbers] = {};
      if (exists && first < Keys::keySize)
#pragma unroll
        for (int i = 0; i < numbers; ++i)
          words[i] = reinterpret_cast<const unsigned*>(&shared.query[head][first])[i];
#pragma unroll
      for (int i = 0; i < Keys::vectorTiles; ++i) {
        unsigned (&of)[2] = queries[Keys::vectorTiles * vector + i];
        of[0] = __byte_perm(words[i], words[i + Keys::vectorTiles], 0x5410);
        of[1] = __byte_perm(words[i], words[i + Keys::vectorTiles], 0x7632);
      }
    }
  }

  /// Products of keys g and g + 8 of a step with the queries of a thread's heads.
  __device__ __forceinline__ void multiplyStep(float (&products)[2][held],
                                               const typename Keys::Step& step) const {
    float dots[2][4] = {}; // two sums, so that one instruction need not wait for the last
#pragma unroll
    for (int first = 0; first < Keys::keyVectors; first += 2) {
      unsigned words[4];
      loadMatrices(words, Keys::template rowOf<Keys::keyVectors>(step.keys, first));
#pragma unroll
      for (int i = 0; i < 2 && first + i < Keys::keyVectors; ++i) {
        unsigned low[numbers], high[numbers]; // of keys g and g + 8
        KeyPairs::decode(low, words[2 * i]);
        KeyPairs::decode(high, words[2 * i + 1]);
#pragma unroll
        for (int j = 0; j < numbers; j += 2) {
          const int tile = Keys::vectorTiles * (first + i) + j / 2;
          multiplyAdd<T>(dots[tile % 2], {low[j], high[j], low[j + 1], high[j + 1]}, queries[tile]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int h = 0; h < held; ++h)
        products[i][h] = dots[0][2 * i + h] + dots[1][2 * i + h];
  }

  /// Adds a step's values times their weights: words of keys 2 t and 2 t + 1 have elements of row g
  /// and of row g + 8 of the instruction's first factor.
  __device__ __forceinline__ void addStep(const typename Keys::Step& step,
                                          const typename Base::Factors& factors) {
    using V = typename Keys::ValueElement;
#pragma unroll
    for (int first = 0; first < Keys::valueVectors; first += 2) {
      unsigned words[4];
      loadTransposed(words, Keys::template rowOf<Keys::valueVectors>(step.values, first));
#pragma unroll
      for (int i = 0; i < 2 && first + i < Keys::valueVectors; ++i) {
        unsigned low[numbers], high[numbers]; // of keys 2 t, 2 t + 1 and of those 8 after them
        ValuePairs::decode(low, words[2 * i]);
        ValuePairs::decode(high, words[2 * i + 1]);
#pragma unroll
        for (int j = 0; j < numbers; j += 2) {
          float (&to)[4] = sums[Keys::vectorTiles * (first + i) + j / 2];
          const unsigned elements[4] = {low[j], low[j + 1], high[j], high[j + 1]};
          multiplyAdd<V>(to, elements, factors.upper);
          if constexpr (!paired)
            multiplyAdd<V>(to, elements, factors.rest);
        }
      }
    }
  }

  /// Attends to the part's keys, the first of which `start` has asked for.
  template <typename Scores> __device__ __forceinline__ void attend(Scores scale) {
    static_assert(mayHide || !Scores::mayHide, "sums know of hidden keys");
    const int own = keys.firstKey(), g = threadIdx.x % 32 / 4;
    this->attendLast(scale);
    takeQueries();
    int slot = 0;
#pragma unroll 1
    for (int first = own; first < keys.end; first += Keys::setKeys) {
      keys.waitForStep();
      const typename Keys::Step& step = keys.stepIn(slot);
      Operands scales;
      float scores[1][2][held];
      multiplyStep(scores[0], step);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const bool exists = first + Keys::keyRow(i) < keys.end;
        scales.keyScale[i] = step.keyScales[g + 8 * i] * KeyPairs::unit;
        scales.valueScale[i] = exists ? step.valueScales[g + 8 * i] * ValuePairs::unit : 0.0f;
      }
      this->score(scores[0], scales, first, scale);
      this->raise(scores, scale, first == own);
      addStep(step, this->weigh(scores[0], scales, scale));
      __syncwarp();
      keys.copyStep(slot, first + Keys::stages * Keys::setKeys);
      slot = slot + 1 < Keys::stages ? slot + 1 : 0;
    }
#pragma unroll
    for (int h = 0; h < held; ++h)
      this->largest[h] *= scale.factor();
  }

  /// Leaves the warp's sums in shared memory.
  __device__ __forceinline__ void share() {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    this->shareBy([&](float* target, int h, int g) {
#pragma unroll
      for (int tile = 0; tile < Keys::valueTiles; ++tile) {
        const int i = tile % Keys::vectorTiles, vector = tile / Keys::vectorTiles;
        const int element = 2 * Keys::vectorTiles * (8 * vector + g) + 2 * i;
        if (element < Keys::valueSize)
          *reinterpret_cast<float2*>(target + element) = this->pairOf(tile, h);
      }
    });
  }
};

} // namespace tenon
