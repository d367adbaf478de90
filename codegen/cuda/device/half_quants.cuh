// The quants of blocks as F16 numbers, by the places that a thread has in the left factors of
// warpgroups (pair_quants.cuh has them as bytes): arithmetic of 16 bits makes values of them, each
// rounded once.
#pragma once
#include "pair_quants.cuh"

namespace tenon {

/// Two neighbouring bytes at an even address, each in the lower half of 16 bits.
__device__ __forceinline__ unsigned spreadBytesAt(const unsigned char* source) {
  return __byte_perm(*reinterpret_cast<const unsigned short*>(source), 0u, 0x4140u);
}
/// v in both halves.
__device__ __forceinline__ unsigned bothF16(float v) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(both) : "f"(v));
  return both;
}
__device__ __forceinline__ unsigned fmaF16(unsigned a, unsigned b, unsigned c) {
  unsigned result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

/// What makes F16 values of numbers that hold quants, in both halves: value = (number * unit +
/// shift) * scale + rest. The inner sum is exact, so that a value is rounded once.
struct HalfFactors {
  unsigned unit, shift, scale, rest;
};

/// The quants of encoding E as F16 numbers of two each. A `Raw` has those of a pair of groups of 32
/// (`load(piece, pair, t)`); `number(raw, pair, odd, half, index)` holds elements 2 t and 2 t + 1
/// of run `index` of 8 of half `half` of the pair's first group or its second one. `fill(made,
/// piece, half)` are the factors of half the piece, of each group or each half of one (`sums` of a
/// piece).
template <typename E> struct HalfQuants {
  static constexpr int sums = 0; ///< none: they are made in f32
};

/// Of blocks of 32 elements that begin with their scale: numbers are 1024 and a quant, or 16 times
/// one where it lies in the upper half of a byte.
template <typename E, bool hasMinimum, int bias> struct SmallBlockHalves {
  static constexpr int sums = 8;
  static constexpr unsigned upper = 0x64006400u; // 1024
  using Factors = uint2;                         // scale, rest

  static __device__ __forceinline__ void fill(uint2 (&made)[4], const unsigned char* piece,
                                              int half) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned char* const block = piece + (4 * half + i) * E::blockBytes;
      const unsigned short* const heads = reinterpret_cast<const unsigned short*>(block);
      made[i] = {heads[0] * 0x10001u, hasMinimum ? heads[1] * 0x10001u : 0x80008000u};
    }
  }
  static __device__ __forceinline__ unsigned value(unsigned number, uint2 of, int, int, int half) {
    const bool isUpper = E::blockBytes < 32 && half == 1;
    const unsigned quants = isUpper ? fmaF16(number, bothHalves<0x2C00>(), less<64 + bias>())
                                    : fmaF16(number, bothHalves<0x3C00>(), less<1024 + bias>());
    return fmaF16(quants, of.x, of.y);
  }

private:
  template <unsigned bits> static constexpr __device__ unsigned bothHalves() {
    return bits * 0x10001u;
  }
  /// -v, an integer from 64 to 127 or from 1024 to 2047.
  template <int v> static constexpr __device__ unsigned less() {
    return (v < 128 ? 0xD400u + (v - 64) * 16 : 0xE400u + (v - 1024)) * 0x10001u;
  }
};
template <> struct HalfQuants<Q8_0> : SmallBlockHalves<Q8_0, false, 128> {
  struct Raw {
    unsigned bytes[2][2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    Raw raw;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      raw.bytes[i / 4][i / 2 % 2][i % 2] =
          spreadBytesAt(piece + (2 * pair + i / 4) * Q8_0::blockBytes + 2 + 8 * (i % 4) + 2 * t);
    return raw;
  }
  static __device__ __forceinline__ unsigned number(const Raw& raw, int, int odd, int half,
                                                    int index) {
    return (raw.bytes[odd][half][index] ^ 0x00800080u) | upper;
  }
};
template <typename E, bool hasMinimum, int bias, int quantsAt>
struct NibbleBlockHalves : SmallBlockHalves<E, hasMinimum, bias> {
  struct Raw {
    unsigned bytes[2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    Raw raw;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      raw.bytes[i / 2][i % 2] = spreadBytesAt(piece + (2 * pair + i / 2) * E::blockBytes +
                                              quantsAt + 8 * (i % 2) + 2 * t);
    return raw;
  }
  static __device__ __forceinline__ unsigned number(const Raw& raw, int, int odd, int half,
                                                    int index) {
    return (raw.bytes[odd][index] & (half ? 0x00F000F0u : 0x000F000Fu)) |
           SmallBlockHalves<E, hasMinimum, bias>::upper;
  }
};
template <> struct HalfQuants<Q4_0> : NibbleBlockHalves<Q4_0, false, 8, 2> {};
template <> struct HalfQuants<Q4_1> : NibbleBlockHalves<Q4_1, true, 0, 4> {};
template <typename E, bool hasMinimum, int bias, int highAt>
struct FiveBitHalves
    : WithFifthBits<NibbleBlockHalves<E, hasMinimum, bias, highAt + 4>, E::blockBytes, highAt> {
  using Nibbles = NibbleBlockHalves<E, hasMinimum, bias, highAt + 4>;
  using Raw = typename WithFifthBits<Nibbles, E::blockBytes, highAt>::Raw;
  static __device__ __forceinline__ unsigned number(const Raw& raw, int pair, int odd, int half,
                                                    int index) {
    const unsigned both = raw.high[odd] >> (16 * half + 8 * index) & 3u;
    const unsigned fifth = both * 0x00080010u & 0x00100010u; // bits 0 and 1 to 4 and 20
    return Nibbles::number(raw.low, pair, odd, half, index) | fifth << 4 * half;
  }
};
template <> struct HalfQuants<Q5_0> : FiveBitHalves<Q5_0, false, 16, 2> {};
template <> struct HalfQuants<Q5_1> : FiveBitHalves<Q5_1, true, 0, 4> {};

/// Of blocks of 256 elements with integers that scale their groups: numbers are subnormal, 2^-24
/// times a quant or 16 times that, `unit` a group's integer, 2^exponent times it, so that the inner
/// sum is quant * integer less what is nearest to the group's minimum, exactly, and `rest` what
/// that minimum leaves. A block's scale times 2^(24 - exponent) has to be an F16: blocks of Q4_K
/// and Q5_K with a scale of 4 and more, of Q6_K of 1 and more, become infinities.
template <int exponent> struct SuperBlockHalves {
  using Factors = uint4;
  static constexpr float up = 1 << exponent, down = 1.0f / (1 << (24 - exponent));

  static __device__ __forceinline__ unsigned value(unsigned number, uint4 of, int, int, int) {
    return fmaF16(fmaF16(number, of.x, of.y), of.z, of.w);
  }
  static __device__ __forceinline__ float upFor(bool isUpper) { return isUpper ? up / 16.0f : up; }
};
template <typename E, int quantsAt> struct SixBitHalves : SuperBlockHalves<10> {
  static constexpr int sums = 8;
  struct Raw {
    unsigned bytes[2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    Raw raw;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      raw.bytes[i / 2][i % 2] = spreadBytesAt(piece + quantsAt + 32 * pair + 8 * i + 2 * t);
    return raw;
  }
  static __device__ __forceinline__ unsigned number(const Raw& raw, int, int odd, int half,
                                                    int index) {
    return raw.bytes[half][index] & (odd ? 0x00F000F0u : 0x000F000Fu);
  }
  static __device__ __forceinline__ void fill(uint4 (&made)[4], const unsigned char* block,
                                              int half) {
    const SixBitIntegers integers(block, half);
    const float scale = integers.scale * (1 / down), minimum = integers.minimum;
    const unsigned scaleOf16 = bothF16(scale);
    const float ratio = __fdividef(-minimum, scale);
    // Next to the minimums of a block whose scale is next to nothing, whole ones of it are nothing.
    const float wholes = fabsf(ratio) < 1.0f / 32.0f ? ratio : 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      constexpr float even = 1.5f * (1 << 23) * down; // rounds what is added to multiples of `down`
      const float less = integers.of(1, i);
      const unsigned shift = bothF16(__fmaf_rn(less, wholes, even) - even);
      const float taken = toFloat(F16{static_cast<unsigned short>(shift)});
      made[i] = {bothF16(integers.of(0, i) * upFor(i % 2 != 0)), shift, scaleOf16,
                 bothF16(__fmaf_rn(-taken, scale, -less * minimum))};
    }
  }
};
template <> struct HalfQuants<Q4_K> : SixBitHalves<Q4_K, 16> {};
template <> struct HalfQuants<Q5_K> : SixBitHalves<Q5_K, 48> {
  using Nibbles = SixBitHalves<Q5_K, 48>;
  struct Raw {
    typename Nibbles::Raw low;
    unsigned high[2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    Raw raw = {Nibbles::load(piece, pair, t), {}};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      raw.high[i / 2][i % 2] = spreadBytesAt(piece + 16 + 8 * i + 2 * t);
    return raw;
  }
  static __device__ __forceinline__ unsigned number(const Raw& raw, int pair, int odd, int half,
                                                    int index) {
    const int from = 2 * pair + odd, to = odd ? 8 : 4;
    const unsigned bits = raw.high[half][index];
    const unsigned moved = from > to ? bits >> (from - to) : bits << (to - from);
    return Nibbles::number(raw.low, pair, odd, half, index) |
           (moved & (odd ? 0x01000100u : 0x00100010u));
  }
};
template <> struct HalfQuants<Q6_K> : SuperBlockHalves<8> {
  static constexpr int sums = 16;
  struct Raw {
    unsigned low[2][2][2], high[2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const low = piece + pair / 2 * 64 + 2 * t;
    const unsigned char* const high = piece + 128 + pair / 2 * 32 + 2 * t;
    Raw raw;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      raw.low[0][i / 2][i % 2] = spreadBytesAt(low + 8 * i);
      raw.low[1][i / 2][i % 2] = spreadBytesAt(low + 32 + 8 * i);
      raw.high[i / 2][i % 2] = spreadBytesAt(high + 8 * i);
    }
    return raw;
  }
  static __device__ __forceinline__ unsigned number(const Raw& raw, int pair, int odd, int half,
                                                    int index) {
    const int upper = pair % 2; // of the groups 0 to 3 of 128, the last two
    const int from = 4 * upper + 2 * odd, to = 4 + 4 * upper;
    const unsigned bits = raw.high[half][index];
    const unsigned moved = from > to ? bits >> (from - to) : bits << (to - from);
    return (raw.low[odd][half][index] & (upper ? 0x00F000F0u : 0x000F000Fu)) |
           (moved & (upper ? 0x03000300u : 0x00300030u));
  }
  using Factors = uint2; // unit, scale

  static __device__ __forceinline__ void fill(uint2 (&made)[8], const unsigned char* piece,
                                              int half) {
    const unsigned scale = bothF16(halfAt(piece + 208) * (1 / down));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto integer =
          static_cast<float>(reinterpret_cast<const signed char*>(piece)[192 + 8 * half + i]);
      made[i] = {bothF16(integer * upFor(i / 4 != 0)), scale};
    }
  }
  /// A quant is 32 more than what is scaled.
  static __device__ __forceinline__ unsigned value(unsigned number, uint2 of, int pair, int, int) {
    constexpr unsigned nothing = 0x80008000u, bias = 0x80208020u, upperBias = 0x82008200u;
    const unsigned shift = fmaF16(of.x, pair % 2 ? upperBias : bias, nothing);
    return fmaF16(fmaF16(number, of.x, shift), of.y, nothing);
  }
};

} // namespace tenon
