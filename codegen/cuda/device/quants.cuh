// Products of block-quantised rows with 16-bit factors on tensor cores: quants are multiplied as
// integers, and scales stand after the sums of a group. Threads take rounds of 32 groups of 32
// elements of a row; thread (g, t) of a warp, of number 4 g + t, has eight elements of the groups 4
// g to 4 g + 3.
#pragma once
#include "e2m1_quants.cuh"
#include "k_quants.cuh"
#include "mma.cuh"
#include "reduce.cuh"
#include "small_quants.cuh"

namespace tenon {

/// Factors `Type` of x of type T, which `narrow` multiplies with a power of two, `inverse` of it.
template <typename T, typename Type> struct NarrowedInput {
  static constexpr float inverse = 1.0f;
  template <int count>
  __device__ __forceinline__ explicit NarrowedInput(const uint2 (&)[count], bool = true) {}
  __device__ __forceinline__ unsigned narrow(unsigned pair) const { return pair; }
};
/// As F16, so that the largest of a warp's numbers, of the threads where they count, is from 2^14
/// to 2^15: 2^-39 of it is what the others may lose, less than a sum in f32 does.
template <> struct NarrowedInput<BF16, F16> {
  float power, inverse;

  template <int count>
  __device__ __forceinline__ explicit NarrowedInput(const uint2 (&x)[count], bool counts = true) {
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < count; ++i)
      largest = __vmaxu2(largest, __vmaxu2(x[i].x & 0x7FFF7FFFu, x[i].y & 0x7FFF7FFFu));
    largest = max(largest >> 16, largest & 0xFFFFu);
    largest = __reduce_max_sync(0xFFFFFFFFu, counts ? largest : 0u);
    const int exponent = min(14 + 127 - static_cast<int>(largest >> 7), 126);
    power = __uint_as_float(static_cast<unsigned>(127 + exponent) << 23);
    inverse = __uint_as_float(static_cast<unsigned>(127 - exponent) << 23);
  }
  __device__ __forceinline__ unsigned narrow(unsigned pair) const {
    return pairFromFloat<F16>(__uint_as_float(pair << 16) * power,
                              __uint_as_float(pair & 0xFFFF0000u) * power);
  }
};

/// Products of rounds of 32 groups of encoding E with factors of type T.
///
/// Four instructions with 16 rows and 8 columns take a round of two lines of weights at once: row g
/// of tile i is group 4 g + i of the first line, row 8 + g of the second; column n is the same
/// group of x as one row, so that the groups' dot products lie on a diagonal. Each tile has its
/// columns turned by two more, which leaves every thread the results of one group of each line, 4 g
/// + `own`: it brings their scales.
template <typename E, typename T> struct QuantRound {
  using Format = Quants<E>;
  using Line = typename LineOf<E>::Type;
  using Factor = typename RoundFactors<E, T>::Type;
  using Factors = typename RoundFactors<E, T>::Factors;
  using Input = NarrowedInput<T, Factor>;
  static constexpr int tiles = 4, groups = 32, elements = 32 * groups, scales = Format::scales;
  static constexpr int bytes = elements / E::blockElements * E::blockBytes;

  uint2 x[tiles][2];    ///< the eight elements of a group, in the order of `Factors`
  float totals[scales]; ///< of x, of the thread's own group
  float inverse;        ///< of what x is multiplied with

  /// Of `count` elements after the round's first.
  static __device__ __forceinline__ int groupsOf(int count) { return min(count / 32, groups); }
  static __device__ __forceinline__ int row() { return threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int own() { return (threadIdx.x - row() / 2) & 3; }

  /// Takes over from the results of a tile those of the thread's own group.
  template <int n>
  static __device__ __forceinline__ void keepOwn(float (&kept)[n], const float (&results)[n],
                                                 int tile) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      kept[i] = tile == 0 || tile == own() ? results[i] : kept[i];
  }

  /// The round's part of x, of which `count` groups are there.
  __device__ __forceinline__ void load(const T* source, int count) {
    const int g = row(), t = threadIdx.x % 4;
    uint2 words[2 * tiles] = {};
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const int group = 4 * ((g - 2 * tile) & 7) + tile;
      const T* const elements = source + 32 * group;
      if (group < count) {
        if constexpr (Format::inHalves) {
          words[2 * tile] = *reinterpret_cast<const uint2*>(elements + 4 * t);
          words[2 * tile + 1] = *reinterpret_cast<const uint2*>(elements + 16 + 4 * t);
        } else {
          const uint4 both = *reinterpret_cast<const uint4*>(elements + 8 * t);
          words[2 * tile] = {both.x, both.y}, words[2 * tile + 1] = {both.z, both.w};
        }
      }
    }
    const Input input(words);
    inverse = input.inverse;
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      float sums[scales][4] = {};
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        const uint2 word = {input.narrow(words[2 * tile + step].x),
                            input.narrow(words[2 * tile + step].y)};
        x[tile][step] = RoundFactors<E, T>::inOrder ? word
                                                    : uint2{__byte_perm(word.x, word.y, 0x5410u),
                                                            __byte_perm(word.x, word.y, 0x7632u)};
        multiplyAdd<Factor>(sums[step % scales],
                            {Factors::ones, Factors::ones, Factors::ones, Factors::ones},
                            {x[tile][step].x, x[tile][step].y});
      }
      float results[scales];
#pragma unroll
      for (int i = 0; i < scales; ++i)
        results[i] = g % 2 ? sums[i][1] : sums[i][0];
      keepOwn(totals, results, tile);
    }
  }

  /// Adds to a thread's sums of two lines what its own groups give; `first` and `second` are the
  /// bytes of the round, of which `count` groups are there.
  __device__ __forceinline__ void multiply(float& sumOfFirst, float& sumOfSecond, Line first,
                                           Line second, int count) const {
    const int g = row(), t = threadIdx.x % 4;
    const int there = min(g, (count - 1) / tiles); // rows that are not there repeat the last
    const Format lines[2] = {Format(first, there, t), Format(second, there, t)};
    float dots[scales][4];
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      unsigned quants[2][2][2];
#pragma unroll
      for (int line = 0; line < 2; ++line)
#pragma unroll
        for (int step = 0; step < 2; ++step)
          take(quants[line][step], lines[line], tile, step);
      float results[scales][4] = {};
#pragma unroll
      for (int step = 0; step < 2; ++step)
        multiplyAdd<Factor>(
            results[step % scales],
            {quants[0][step][0], quants[1][step][0], quants[0][step][1], quants[1][step][1]},
            {x[tile][step].x, x[tile][step].y});
#pragma unroll
      for (int i = 0; i < scales; ++i)
        keepOwn(dots[i], results[i], tile);
    }
    // No branch: the instructions above are the whole warp's, wherever a compiler puts them.
    const bool exists = tiles * g + own() < count;
#pragma unroll
    for (int i = 0; i < scales; ++i) {
      const float dotOfFirst = g % 2 ? dots[i][1] : dots[i][0];
      const float dotOfSecond = g % 2 ? dots[i][3] : dots[i][2];
      const float withFirst = addScaled(sumOfFirst, dotOfFirst, first, there, i);
      const float withSecond = addScaled(sumOfSecond, dotOfSecond, second, there, i);
      sumOfFirst = exists ? withFirst : sumOfFirst;
      sumOfSecond = exists ? withSecond : sumOfSecond;
    }
  }

private:
  /// Where a thread's quants stay in the half of the byte that they lie in.
  static constexpr bool inPlace = Format::inNibbles && Factors::takesBitsInPlace;

  static __device__ __forceinline__ void take(unsigned (&pairs)[2], const Format& line, int tile,
                                              int step) {
    if constexpr (inPlace) {
      const unsigned mask = tile % 2 ? 0x00F000F0u : 0x000F000Fu;
      pairs[0] = line.nibbles(tile, step) & mask, pairs[1] = line.nibbles(tile, step) >> 8 & mask;
    } else {
      Factors::widen(pairs, line.word(tile, step));
    }
  }

  /// `sum` and what the own group of row `g` gives.
  __device__ __forceinline__ float addScaled(float sum, float dot, Line line, int g,
                                             int half) const {
    return addScaled(sum, dot, Format::factors(line, g, own(), half), totals[half]);
  }
  __device__ __forceinline__ float addScaled(float sum, float dot, GroupFactors factors,
                                             float total) const {
    const float inverseUnit =
        inPlace && own() % 2 ? Factors::inverseUnit / 16.0f : Factors::inverseUnit;
    constexpr int offset = Format::bias + Factors::shift;
    float less = factors.minimum;
    if constexpr (offset != 0)
      less = __fmaf_rn(factors.scale, static_cast<float>(offset), less);
    return __fmaf_rn(-less, total, __fmaf_rn(factors.scale * inverseUnit, dot, sum));
  }
  __device__ __forceinline__ float addScaled(float sum, float dot, GroupScale factors,
                                             float) const {
    return __fmaf_rn(factors.scale, dot * (inverse * Factors::inverseUnit), sum);
  }
};

/// The products of a round with the segments of lines at `bytes`, `pitch` bytes apart.
template <int lines, typename E, typename T>
__device__ __forceinline__ void multiplyRound(float (&sums)[lines], const QuantRound<E, T>& round,
                                              typename LineOf<E>::Type bytes, int pitch,
                                              int groups) {
#pragma unroll
  for (int line = 0; line < lines; line += 2) {
    const int other = line + 1 < lines ? line + 1 : line;
    float none = 0.0f;
    round.multiply(sums[line], other == line ? none : sums[other], bytes + line * pitch,
                   bytes + other * pitch, groups);
  }
}

/// What a warp multiplies segments of lines with: at most `elements` of x, in registers.
template <typename E, typename T, int elements> struct QuantInput {
  using Round = QuantRound<E, T>;
  static constexpr int rounds = (elements + Round::elements - 1) / Round::elements;

  Round parts[rounds];

  /// `count` elements, a multiple of 32, of which a round takes up to 32 groups.
  __device__ __forceinline__ void load(const T* x, int count) {
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (i * Round::elements < count)
        parts[i].load(x + i * Round::elements, Round::groupsOf(count - i * Round::elements));
  }
  /// Adds to a thread's sums of `lines` segments of `count` elements, which lie `pitch` bytes
  /// apart; over the warp they add up to the products.
  template <int lines>
  __device__ __forceinline__ void multiply(float (&sums)[lines], const unsigned char* bytes,
                                           int pitch, int count) const {
    const typename Round::Line line = bytes;
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (i * Round::elements < count)
        multiplyRound(sums, parts[i], line + i * Round::bytes, pitch,
                      Round::groupsOf(count - i * Round::elements));
  }
};

/// The same with rows of x in memory, `stride` elements apart, a round after the other.
template <typename E, typename T, int rows, int lines>
__device__ __forceinline__ void multiplyQuants(float (&sums)[rows][lines],
                                               const unsigned char* bytes, int pitch, const T* x,
                                               int stride, int count) {
  using Round = QuantRound<E, T>;
#pragma unroll 1
  for (int first = 0; first < count; first += Round::elements) {
#pragma unroll
    for (int m = 0; m < rows; ++m) {
      Round part;
      part.load(x + m * stride + first, Round::groupsOf(count - first));
      multiplyRound(sums[m], part, bytes, pitch, Round::groupsOf(count - first));
      __syncwarp(); // registers hold one row's part
    }
    bytes += Round::bytes;
  }
}

} // namespace tenon

#include "group_quants.cuh"
