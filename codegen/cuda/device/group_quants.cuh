// What `quants.cuh`, which includes this, has to know of the encodings of `groups.cuh`.
#pragma once

namespace tenon {

/// Part of a line that group 4 g + tile of 32 elements lies in, of blocks of `size`.
template <int size> struct GroupPlace {
  static constexpr int parts = size / 32;

  static __device__ __forceinline__ int block(int g, int tile) {
    return 4 / parts * g + tile / parts;
  }
  static constexpr __device__ int part(int tile) { return tile % parts; }
};

template <int bits, int size, typename Scale, GroupZero zero>
struct Quants<Integers<bits, size, Scale, zero>> {
  using Encoding = Integers<bits, size, Scale, zero>;
  using Place = GroupPlace<size>;
  /// Quants of less than 8 bits are lifted to the upper ones of the seven lower bits of their
  /// bytes, so that what `QuantFactors` adds to a byte is not many times as large as what it holds.
  static constexpr int lift = bits == 8 ? 0 : 7 - bits;
  static constexpr int scales = 1, bias = zero == GroupZero::Middle ? 1 << (bits - 1 + lift) : 0;
  static constexpr bool inHalves = true, wide = bits == 8, inNibbles = false;
  /// 16 elements of 8 bits lie in words of their own, 32 of 4 or 2 bits share theirs.
  static constexpr int steps = bits == 8 ? 2 : 1;
  unsigned words[4][steps], high[4];

  /// Four bytes of a block, whose address is even.
  static __device__ __forceinline__ unsigned load(const unsigned char* source) {
    return Encoding::headBytes == 4 ? alignedWordAt(source) : wordAt(source);
  }
  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const unsigned char* const block = line + Place::block(g, tile) * Encoding::blockBytes;
      const unsigned char* const low =
          block + Encoding::headBytes + Place::part(tile) * Encoding::partBytes;
#pragma unroll
      for (int step = 0; step < steps; ++step)
        words[tile][step] = load(low + 4 * t % Encoding::run + 16 * step);
      if (Encoding::lowBits == 2)
        words[tile][0] >>= t / 2 * 2;
      if (bits == 3)
        high[tile] = load(block + Encoding::highAt + 4 * Place::part(tile)) >> 4 * t;
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    if (bits == 8)
      return words[tile][step % steps];
    constexpr unsigned mask = ((1u << Encoding::lowBits) - 1) << lift;
    const unsigned all = words[tile][0];
    const unsigned low = (4 * step < lift ? all << (lift - 4 * step) : all >> (4 * step - lift)) &
                         mask * 0x01010101u;
    return bits == 3 ? low | spreadBits(high[tile] >> 16 * step) << 6 : low;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    const unsigned char* const block = line + Place::block(g, tile) * Encoding::blockBytes;
    const float scale = toFloat(*reinterpret_cast<const Scale*>(block));
    constexpr float ofLifted = 1.0f / static_cast<float>(1 << lift);
    float minimum = 0.0f;
    if (zero == GroupZero::Stored)
      minimum = scale * static_cast<float>(reinterpret_cast<const unsigned short*>(block)[1]);
    if constexpr (zero == GroupZero::Minimum)
      minimum = -toFloat(reinterpret_cast<const Scale*>(block)[1]);
    return {scale * ofLifted, minimum};
  }
};

template <int size> struct Quants<E4M3<size>> {
  using Place = GroupPlace<size>;
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = true, inNibbles = false;
  unsigned words[4][2];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const unsigned char* const numbers = line + Place::block(g, tile) * E4M3<size>::blockBytes +
                                           4 + 32 * Place::part(tile) + 4 * t;
      words[tile][0] = alignedWordAt(numbers), words[tile][1] = alignedWordAt(numbers + 16);
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const { return words[tile][step]; }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return {*reinterpret_cast<const float*>(line + Place::block(g, tile) * E4M3<size>::blockBytes),
            0.0f};
  }
};

/// E4M3 numbers as factors of type T, 1 / `inverseUnit` times as large.
template <typename T> struct E4M3Factors;

template <> struct E4M3Factors<F16> {
  static constexpr float inverseUnit = 256.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3C003C00u;
  static __device__ __forceinline__ unsigned place(unsigned upper) {
    return (upper & 0x80008000u) | (upper >> 1 & 0x3F803F80u);
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = place(__byte_perm(bytes, 0u, 0x2404u));
    pairs[1] = place(__byte_perm(bytes, 0u, 0x3414u));
  }
};
template <> struct E4M3Factors<BF16> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3F803F80u;
  /// The seven bits in their place are 2^120 times too small.
  static __device__ __forceinline__ unsigned place(unsigned upper) {
    return scaledBF16<0x7B80>((upper & 0x80008000u) | (upper >> 4 & 0x07F007F0u));
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = place(__byte_perm(bytes, 0u, 0x2404u));
    pairs[1] = place(__byte_perm(bytes, 0u, 0x3414u));
  }
};

template <int size, typename T> struct FactorsOf<E4M3<size>, T> {
  using Type = E4M3Factors<T>;
};

/// How four integers of 4 bits, of the bytes of a word the first and the third in pairs[0], the
/// others in pairs[1], become factors of type T; `upper`: of the upper halves of the bytes. A
/// factor is (quant + `offset`) / `inverseUnit`, of upper halves / `inverseUpperUnit`.
template <typename T> struct NibbleFactors;

/// Subnormal numbers, where they lie.
template <> struct NibbleFactors<F16> {
  static constexpr float inverseUnit = 16777216.0f, inverseUpperUnit = 1048576.0f; // 2^24, 2^20
  static constexpr float offset = 0.0f;

  template <bool upper>
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned word) {
    constexpr unsigned mask = upper ? 0x00F000F0u : 0x000F000Fu;
    pairs[0] = word & mask, pairs[1] = word >> 8 & mask;
  }
};
/// 0x43 in front of the integer is 128 and it.
template <> struct NibbleFactors<BF16> {
  static constexpr float inverseUnit = 1.0f, inverseUpperUnit = 1.0f;
  static constexpr float offset = 128.0f;

  template <bool upper>
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned word) {
    QuantFactors<BF16, false>::widen(pairs, (upper ? word >> 4 : word) & 0x0F0F0F0Fu);
  }
};

/// A round of eight groups of 128 elements, each with one scale: all of a group's products add up
/// in one result. Row g of the instructions is group g of the first line, row 8 + g of the second,
/// column n group n of x, so that thread (g, g / 2) has the results of group g on the diagonal.
/// Thread (g, t) takes 16 bytes of quants at once, elements 32 t to 32 t + 31 of a group; of each
/// instruction those of a word.
template <int together, typename Scale, GroupZero zero, typename T>
struct QuantRound<WideIntegers<together, Scale, zero>, T> {
  using Encoding = WideIntegers<together, Scale, zero>;
  using Factors = NibbleFactors<T>;
  static constexpr int words = 4, groups = 32, elements = 1024;
  static constexpr int bytes = elements / Encoding::blockElements * Encoding::blockBytes;
  using Line = const unsigned char*; ///< where a thread reads

  uint2 x[words][2]; ///< beside the lower and the upper halves of a word
  float total;       ///< of x, of the thread's own group

  /// Of `count` elements after the round's first, in groups of 32.
  static __device__ __forceinline__ int groupsOf(int count) {
    return together == 8 ? groups : min(count / 32, groups);
  }
  static __device__ __forceinline__ int row() { return threadIdx.x % 32 / 4; }
  /// Whether group `row` is one of `count` groups of 32; a row is whole blocks.
  static __device__ __forceinline__ bool exists(int count) {
    return together == 8 || 4 * row() < count;
  }

  /// The round's part of x, of which `count` groups of 32 are there.
  __device__ __forceinline__ void load(const T* source, int count) {
    const T* const own = source + 32 * (threadIdx.x % 32);
    constexpr unsigned ones = QuantFactors<T, false>::ones;
    float sums[4] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        uint4 both = {0, 0, 0, 0};
        if (exists(count))
          both = *reinterpret_cast<const uint4*>(own + 16 * half + 8 * pair);
        const uint2 parts[2] = {{both.x, both.y}, {both.z, both.w}};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          uint2& part = x[2 * pair + i][half];
          part = {__byte_perm(parts[i].x, parts[i].y, 0x5410u),
                  __byte_perm(parts[i].x, parts[i].y, 0x7632u)};
          multiplyAdd<T>(sums, {ones, ones, ones, ones}, {part.x, part.y});
        }
      }
    total = row() % 2 ? sums[1] : sums[0];
  }

  /// See the other rounds.
  __device__ __forceinline__ void multiply(float& sumOfFirst, float& sumOfSecond,
                                           const unsigned char* first, const unsigned char* second,
                                           int count) const {
    // Rows that are not there repeat the last.
    const int there = together == 8 ? row() : min(row(), (count - 1) / 4);
    const int block = there / together * Encoding::blockBytes, group = there % together;
    const int place = block + 64 * group + 16 * (threadIdx.x % 4);
    const uint4 lines[2] = {*reinterpret_cast<const uint4*>(first + place),
                            *reinterpret_cast<const uint4*>(second + place)};
    float lower[4] = {}, upper[4] = {};
#pragma unroll
    for (int word = 0; word < words; ++word) {
      unsigned low[2][2], high[2][2];
#pragma unroll
      for (int line = 0; line < 2; ++line) {
        const uint4 all = lines[line];
        const unsigned quants = word == 0 ? all.x : word == 1 ? all.y : word == 2 ? all.z : all.w;
        Factors::template widen<false>(low[line], quants);
        Factors::template widen<true>(high[line], quants);
      }
      multiplyAdd<T>(lower, {low[0][0], low[1][0], low[0][1], low[1][1]},
                     {x[word][0].x, x[word][0].y});
      multiplyAdd<T>(upper, {high[0][0], high[1][0], high[0][1], high[1][1]},
                     {x[word][1].x, x[word][1].y});
    }
    const bool odd = row() % 2, isOwn = threadIdx.x % 4 == row() / 2 && exists(count);
    const float withFirst = addScaled(sumOfFirst, odd ? lower[1] : lower[0],
                                      odd ? upper[1] : upper[0], first + block, group);
    const float withSecond = addScaled(sumOfSecond, odd ? lower[3] : lower[2],
                                       odd ? upper[3] : upper[2], second + block, group);
    sumOfFirst = isOwn ? withFirst : sumOfFirst;
    sumOfSecond = isOwn ? withSecond : sumOfSecond;
  }

private:
  /// `sum` and what the own group gives.
  __device__ __forceinline__ float addScaled(float sum, float lower, float upper,
                                             const unsigned char* block, int group) const {
    const float scale = Encoding::scaleOf(block, group);
    const float dot = __fmaf_rn(upper, Factors::inverseUpperUnit, lower * Factors::inverseUnit);
    const float offset = Factors::offset + static_cast<float>(Encoding::zeroOf(block, group));
    return __fmaf_rn(scale, __fmaf_rn(-offset, total, dot), sum);
  }
};

} // namespace tenon
