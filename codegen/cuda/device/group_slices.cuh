// What `held_row.cuh`, which includes this, has to know of Q4_0 and of the encodings of
// `groups.cuh`.
#pragma once

namespace tenon {

/// The sum of x over all that a thread takes, which has one scale and one zero.
struct SliceTotal {
  using Less = float;
  float total;

  __device__ __forceinline__ void set(float even, float odd) { total = even + odd; }
  template <typename Line>
  __device__ __forceinline__ void measure(Less (&less)[2], const Line&, const Line&) const {
    less[0] = less[1] = total;
  }
};
/// No sum, of numbers that have a sign of their own.
struct NoSliceSums {
  struct Less {};

  __device__ __forceinline__ void set(float, float) {}
  template <typename Line>
  __device__ __forceinline__ void measure(Less (&)[2], const Line&, const Line&) const {}
};

/// What a group of integers of 4 bits adds to a line's product, `dot` being that of x and its
/// quants, `sum` that of x. `zero` is the number that stands for zero, or of GroupZero::Minimum
/// what is added to all.
template <GroupZero kind>
__device__ __forceinline__ float groupProduct(float scale, float zero, float dot, float sum) {
  return kind == GroupZero::Minimum ? __fmaf_rn(scale, dot, zero * sum)
                                    : scale * __fmaf_rn(-zero, sum, dot);
}

/// 64 integers of 4 bits of one scale, two groups of 32 whose bytes hold an element and the one 16
/// after it. The even group is what lower halves of bytes hold, 2^-24 of a quant, the odd group
/// what upper halves hold, 2^-20 of one: x lies in that order.
template <GroupZero kind> struct NibblesOfOneScale {
  static constexpr bool splitsGroups = false, takesNeighbours = false;
  using Sums = SliceTotal;

  uint4 nibbles[2];
  float scale, zero;

  static __device__ __forceinline__ int placeOf(int lane) {
    return (lane & 25) | (lane & 2) << 1 | (lane & 4) >> 1;
  }
  __device__ __forceinline__ void take(unsigned (&made)[2], int odd, int i) const {
    const unsigned bits = wordOf(nibbles[i / 4], i % 4), mask = odd ? 0x00F000F0u : 0x000F000Fu;
    made[0] = bits & mask, made[1] = bits >> 8 & mask;
  }
  __device__ __forceinline__ float product(float even, float odd, float total) const {
    return groupProduct<kind>(scale, zero, __fmaf_rn(odd, 0x1p20f, even * 0x1p24f), total);
  }
};

template <int together, typename Scale, GroupZero kind>
struct SliceOfLine<WideIntegers<together, Scale, kind>> : NibblesOfOneScale<kind> {
  using E = WideIntegers<together, Scale, kind>;
  static constexpr int slices = E::blockElements / 256, bytes = E::blockBytes / slices;

  __device__ __forceinline__ SliceOfLine(const unsigned char* run, int number) {
    const unsigned char* const block = run + number / slices * E::blockBytes;
    const int slice = number % slices, t = threadIdx.x % 4, group = 2 * slice + t / 2;
    const uint4* const quants = reinterpret_cast<const uint4*>(block + 128 * slice + 32 * t);
    this->nibbles[0] = quants[0], this->nibbles[1] = quants[1];
    this->scale = E::scaleOf(block, group);
    this->zero = static_cast<float>(E::zeroOf(block, group));
  }
};

/// The zero of a block of integers that begins with a word of scale and zero.
template <typename Scale, GroupZero kind>
__device__ __forceinline__ float zeroOfHead(unsigned head) {
  const auto upper = static_cast<unsigned short>(head >> 16);
  return kind == GroupZero::Minimum ? toFloat(Scale{upper}) : static_cast<float>(upper);
}
template <typename Scale> __device__ __forceinline__ float scaleOfHead(unsigned head) {
  return toFloat(Scale{static_cast<unsigned short>(head)});
}

template <typename Scale, GroupZero kind>
struct SliceOfLine<Integers<4, 64, Scale, kind>> : NibblesOfOneScale<kind> {
  using E = Integers<4, 64, Scale, kind>;
  static constexpr int bytes = 4 * E::blockBytes;
  static_assert(E::headBytes == 4, "words are aligned");

  __device__ __forceinline__ SliceOfLine(const unsigned char* run, int number) {
    const unsigned* const words = reinterpret_cast<const unsigned*>(run + number * bytes) +
                                  threadIdx.x % 4 * (E::blockBytes / 4);
    this->scale = scaleOfHead<Scale>(words[0]);
    this->zero = zeroOfHead<Scale, kind>(words[0]);
    this->nibbles[0] = {words[1], words[2], words[3], words[4]};
    this->nibbles[1] = {words[5], words[6], words[7], words[8]};
  }
};

/// Blocks of 32 integers of 4 bits, two a thread.
template <typename Scale, GroupZero kind, int blockBytes> struct NibblesOfTwoScales {
  static constexpr bool splitsGroups = true, takesNeighbours = false;
  static constexpr bool isAligned = blockBytes % 4 == 0; ///< else every second block is not
  static constexpr int bytes = 8 * blockBytes;
  using Sums = SliceSums;

  unsigned words[blockBytes / 2]; ///< of two blocks

  static __device__ __forceinline__ int placeOf(int lane) { return lane; }
  __device__ __forceinline__ NibblesOfTwoScales(const unsigned char* run, int number) {
    const unsigned char* const blocks = run + number * bytes + threadIdx.x % 4 * (2 * blockBytes);
#pragma unroll
    for (int i = 0; i < blockBytes / 2; ++i)
      words[i] = alignedWordAt(blocks + 4 * i);
  }
  __device__ __forceinline__ void take(unsigned (&made)[2], int odd, int i) const {
    const int word = i % 4 + (odd ? blockBytes / 4 : 0);
    const unsigned bits =
        odd || isAligned ? words[word + 1] : __byte_perm(words[word], words[word + 1], 0x5432u);
    const unsigned mask = i < 4 ? 0x000F000Fu : 0x00F000F0u;
    made[0] = bits & mask, made[1] = bits >> 8 & mask;
  }
  __device__ __forceinline__ float product(float even, float odd, float2 sums) const {
    const unsigned first = words[0];
    const unsigned second = isAligned ? words[blockBytes / 4] : words[blockBytes / 4] >> 16;
    float zeros[2] = {8.0f, 8.0f};
    if constexpr (kind != GroupZero::Middle)
      zeros[0] = zeroOfHead<Scale, kind>(first), zeros[1] = zeroOfHead<Scale, kind>(second);
    return groupProduct<kind>(scaleOfHead<Scale>(first), zeros[0], even * 0x1p24f, sums.x) +
           groupProduct<kind>(scaleOfHead<Scale>(second), zeros[1], odd * 0x1p24f, sums.y);
  }
};
template <>
struct SliceOfLine<Q4_0> : NibblesOfTwoScales<F16, GroupZero::Middle, Q4_0::blockBytes> {
  using NibblesOfTwoScales::NibblesOfTwoScales;
};
template <typename Scale, GroupZero kind>
struct SliceOfLine<Integers<4, 32, Scale, kind>>
    : NibblesOfTwoScales<Scale, kind, Integers<4, 32, Scale, kind>::blockBytes> {
  using SliceOfLine::NibblesOfTwoScales::NibblesOfTwoScales;
};

/// One instruction makes factors of two numbers, as they lie. Of blocks of 128, which two threads
/// share, each takes 8 bytes in turn, so that their loads meet no bank twice.
template <int size> struct SliceOfLine<E4M3<size>> {
  static constexpr bool splitsGroups = false, takesNeighbours = true;
  static constexpr int bytes = 256 / size * E4M3<size>::blockBytes;
  static constexpr bool isShared = size == 128;
  using Sums = NoSliceSums;

  unsigned words[2][8];
  float scales[2];

  static __device__ __forceinline__ int placeOf(int lane) {
    return isShared ? lane / 16 * 16 + lane % 2 * 8 + lane % 16 / 2 : lane;
  }
  __device__ __forceinline__ SliceOfLine(const unsigned char* run, int number) {
    const unsigned char* const slice = run + number * bytes;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int block = (64 * t + 32 * odd) / size;
      const unsigned char* const begin = slice + block * E4M3<size>::blockBytes;
      scales[odd] = *reinterpret_cast<const float*>(begin);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int word =
            isShared ? 16 * odd + i / 2 * 4 + t % 2 * 2 + i % 2 : (size == 64 ? 8 * odd : 0) + i;
        words[odd][i] = alignedWordAt(begin + 4 + 4 * word);
      }
    }
  }
  __device__ __forceinline__ void take(unsigned (&made)[2], int odd, int i) const {
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(words[odd][i]));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(made[0]) : "h"(low));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(made[1]) : "h"(high));
  }
  __device__ __forceinline__ float product(float even, float odd, NoSliceSums::Less) const {
    return __fmaf_rn(scales[0], even, scales[1] * odd);
  }
};

} // namespace tenon
