// Block-quantised W of hopper_gemm: pieces of its lines in a ring, which a warp fills, and the
// factors that warpgroups make of them in registers.
#pragma once
#include "bulk.cuh"
#include "quants.cuh"
#include "tma.cuh"

namespace tenon {

/// Pieces of 256 elements of a line of encoding E, in 16-byte chunks. Lines begin at multiples of
/// 16 bytes; a piece may begin after the first byte of its first chunk.
template <typename E> struct LinePiece {
  static constexpr int elements = 256, bytes = elements / E::blockElements * E::blockBytes;
  static constexpr int chunks = bytes % 16 == 0 ? bytes / 16 : (bytes + 14 + 15) / 16;
  /// From a line's piece to the next line's: an odd number of chunks, so that the threads of a
  /// warp, who read eight lines at once, meet different banks.
  static constexpr int pitch = 16 * (chunks | 1);
  static_assert(elements % E::blockElements == 0, "whole blocks");

  /// Where piece `piece` of a line begins.
  static __device__ __forceinline__ int begin(int piece) { return piece * bytes; }
  /// Bytes of its first chunk that are not its own.
  static __device__ __forceinline__ int skipped(int piece) {
    return bytes % 16 == 0 ? 0 : begin(piece) & 15;
  }
};

/// Two neighbouring bytes and two that lie eight further on, at an even address.
__device__ __forceinline__ unsigned bytePairsAt(const unsigned char* source) {
  const unsigned short* halves = reinterpret_cast<const unsigned short*>(source);
  return __byte_perm(halves[0], halves[4], 0x5410u);
}
/// Bits 0, 1, 8 and 9 of `bits` as bit 4 of bytes 0 to 3.
__device__ __forceinline__ unsigned fifthBits(unsigned bits) {
  return (bits & 1) << 4 | (bits & 2) << 11 | (bits & 0x100) << 12 | (bits & 0x200) << 19;
}

/// The quants of encoding E by the places that a thread has in the left factors of 16 elements of
/// K. A `Raw` has those of a pair of groups of 32 (`load(piece, pair, t)`);
/// `quants(raw, pair, odd, half)` are elements 2 t, + 1, + 8 and + 9 of half `half` of the pair's
/// first group or its second one, as bytes, of which `wide` ones have all eight bits.
/// `factors(made, piece, half)` are those of half the piece: of each group, or each half of one
/// (`sums` of a piece), value = scale * (quant - bias) - minimum.
template <typename E> struct PairQuants {
  static constexpr int sums = 0; ///< none: values come from E::decode
  struct Raw {};
  static __device__ __forceinline__ Raw load(const unsigned char*, int, int) { return {}; }
};

/// Of blocks of 32 elements that begin with their scale.
template <typename E, bool hasMinimum, int quantBias> struct SmallBlockQuants {
  static constexpr int sums = 8, bias = quantBias;

  static __device__ __forceinline__ void factors(GroupFactors (&made)[4],
                                                 const unsigned char* piece, int half) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned char* const block = piece + (4 * half + i) * E::blockBytes;
      made[i] = {halfAt(block), hasMinimum ? -halfAt(block + 2) : 0.0f};
    }
  }
};
template <> struct PairQuants<Q8_0> : SmallBlockQuants<Q8_0, false, 128> {
  static constexpr bool wide = true;
  struct Raw {
    unsigned words[2][2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    Raw raw;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      raw.words[i / 2][i % 2] =
          bytePairsAt(piece + (2 * pair + i / 2) * Q8_0::blockBytes + 2 + 16 * (i % 2) + 2 * t);
    return raw;
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int, int odd, int half) {
    return raw.words[odd][half] ^ 0x80808080u;
  }
};
/// The first half of a group lies in the lower bits of `quantsAt` bytes after a block's start, the
/// second one in the upper bits.
template <typename E, bool hasMinimum, int quantBias, int quantsAt>
struct NibbleBlockQuants : SmallBlockQuants<E, hasMinimum, quantBias> {
  static constexpr bool wide = false;
  struct Raw {
    unsigned words[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const quants = piece + 2 * pair * E::blockBytes + quantsAt + 2 * t;
    return {{bytePairsAt(quants), bytePairsAt(quants + E::blockBytes)}};
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int, int odd, int half) {
    return raw.words[odd] >> 4 * half & 0x0F0F0F0Fu;
  }
};
template <> struct PairQuants<Q4_0> : NibbleBlockQuants<Q4_0, false, 8, 2> {};
template <> struct PairQuants<Q4_1> : NibbleBlockQuants<Q4_1, true, 0, 4> {};
template <typename E, bool hasMinimum, int quantBias, int highAt>
struct FiveBitQuants : NibbleBlockQuants<E, hasMinimum, quantBias, highAt + 4> {
  using Nibbles = NibbleBlockQuants<E, hasMinimum, quantBias, highAt + 4>;
  struct Raw {
    typename Nibbles::Raw low;
    unsigned high[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const high = piece + 2 * pair * E::blockBytes + highAt;
    return {Nibbles::load(piece, pair, t),
            {wordAt(high) >> 2 * t, wordAt(high + E::blockBytes) >> 2 * t}};
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int pair, int odd, int half) {
    return Nibbles::quants(raw.low, pair, odd, half) | fifthBits(raw.high[odd] >> 16 * half);
  }
};
template <> struct PairQuants<Q5_0> : FiveBitQuants<Q5_0, false, 16, 2> {};
template <> struct PairQuants<Q5_1> : FiveBitQuants<Q5_1, true, 0, 4> {};

/// Groups of 32 in the lower and upper bits of the same bytes, `quantsAt` after a block's start.
template <typename E, int quantsAt> struct SixBitBlockQuants {
  static constexpr int sums = 8, bias = 0;
  static constexpr bool wide = false;
  struct Raw {
    unsigned words[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const quants = piece + quantsAt + 32 * pair + 2 * t;
    return {{bytePairsAt(quants), bytePairsAt(quants + 16)}};
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int, int odd, int half) {
    return raw.words[half] >> 4 * odd & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ void factors(GroupFactors (&made)[4],
                                                 const unsigned char* piece, int half) {
    sixBitFactors(made, piece, half);
  }
};
template <> struct PairQuants<Q4_K> : SixBitBlockQuants<Q4_K, 16> {};
template <> struct PairQuants<Q5_K> : SixBitBlockQuants<Q5_K, 48> {
  using Nibbles = SixBitBlockQuants<Q5_K, 48>;
  struct Raw {
    typename Nibbles::Raw low;
    unsigned high[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const high = piece + 16 + 2 * t;
    return {Nibbles::load(piece, pair, t), {bytePairsAt(high), bytePairsAt(high + 16)}};
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int pair, int odd, int half) {
    const unsigned high = raw.high[half] >> (2 * pair + odd) & 0x01010101u;
    return Nibbles::quants(raw.low, pair, odd, half) | high << 4;
  }
};
template <> struct PairQuants<Q6_K> {
  static constexpr int sums = 16, bias = 32;
  static constexpr bool wide = false;
  struct Raw {
    unsigned low[2][2], high[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const low = piece + pair / 2 * 64 + 2 * t;
    const unsigned char* const high = piece + 128 + pair / 2 * 32 + 2 * t;
    return {
        {{bytePairsAt(low), bytePairsAt(low + 16)}, {bytePairsAt(low + 32), bytePairsAt(low + 48)}},
        {bytePairsAt(high), bytePairsAt(high + 16)}};
  }
  static __device__ __forceinline__ unsigned quants(const Raw& raw, int pair, int odd, int half) {
    const int upper = pair % 2; // of the groups 0 to 3 of 128, the last two
    const unsigned high = raw.high[half] >> (4 * upper + 2 * odd) & 0x03030303u;
    return (raw.low[odd][half] >> 4 * upper & 0x0F0F0F0Fu) | high << 4;
  }
  static __device__ __forceinline__ void factors(GroupFactors (&made)[8],
                                                 const unsigned char* piece, int half) {
    const float scale = halfAt(piece + 208);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      made[i] = {scale * static_cast<float>(
                             reinterpret_cast<const signed char*>(piece)[192 + 8 * half + i]),
                 0.0f};
  }
};

/// Quants as f32, (quant + `offset`) / `unit`: bits 0 to 6 of a byte in front of a number's last 16
/// bits, where 0x40 stands before them; eight bits one byte further, after 0x3F80.
template <bool wide> struct QuantNumbers {
  static constexpr float offset = wide ? 32768.0f : 128.0f, unit = wide ? 32768.0f : 64.0f;

  static __device__ __forceinline__ float number(unsigned quants, unsigned index) {
    return __uint_as_float(wide ? __byte_perm(quants, 0x3F800000u, 0x7604u | index << 4)
                                : __byte_perm(quants, 0x40000000u, 0x7044u | index << 8));
  }
};

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
struct FiveBitHalves : NibbleBlockHalves<E, hasMinimum, bias, highAt + 4> {
  using Nibbles = NibbleBlockHalves<E, hasMinimum, bias, highAt + 4>;
  struct Raw {
    typename Nibbles::Raw low;
    unsigned high[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const high = piece + 2 * pair * E::blockBytes + highAt;
    return {Nibbles::load(piece, pair, t),
            {wordAt(high) >> 2 * t, wordAt(high + E::blockBytes) >> 2 * t}};
  }
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
/// that minimum leaves. Scales of blocks are finite times 2^(24 - exponent) as F16.
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
  static __device__ __forceinline__ void fill(uint4 (&made)[8], const unsigned char* piece,
                                              int half) {
    const unsigned scale = bothF16(halfAt(piece + 208) * (1 / down));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto integer =
          static_cast<float>(reinterpret_cast<const signed char*>(piece)[192 + 8 * half + i]);
      made[i] = {bothF16(integer * upFor(i / 4 != 0)), bothF16(-32.0f * down * integer), scale,
                 0x80008000u};
    }
  }
};

/// Left factors of warpgroups, of type T, of lines of encoding E, made in f32. `Table` is what a warp
/// knows of a piece of its 16 lines: what numbers are multiplied with, and what is then taken from
/// them.
template <typename E, typename T> struct FactorsInFloat {
  using Quants = PairQuants<E>;
  static constexpr int sums = Quants::sums, lines = 16;
  struct Table {
    float2 of[sums > 0 ? sums : 1][lines];
  };

  /// By all threads of the warp, of the lines `pitch` bytes apart from `piece` on.
  static __device__ __forceinline__ void fill(Table& table, const unsigned char* piece, int pitch) {
    if constexpr (sums > 0) {
      using Numbers = QuantNumbers<Quants::wide>;
      const int line = threadIdx.x % lines, half = threadIdx.x % 32 / lines;
      GroupFactors made[sums / 2];
      Quants::factors(made, piece + line * pitch, half);
#pragma unroll
      for (int i = 0; i < sums / 2; ++i)
        table.of[half * (sums / 2) + i][line] = {
            made[i].scale * Numbers::unit,
            __fmaf_rn(made[i].scale, Numbers::offset + static_cast<float>(Quants::bias),
                      made[i].minimum)};
    }
  }
  /// What a thread takes of a pair of groups of 32 of a line: quants, and what numbers become
  /// values with.
  struct Pair {
    typename Quants::Raw raw;
    float2 factors[sums > 0 ? sums / 4 : 1];

    /// Of pair `pair` of line `line`, whose piece is `piece`.
    __device__ __forceinline__ void load(const Table& table, const unsigned char* piece, int line,
                                         int pair) {
      raw = Quants::load(piece, pair, threadIdx.x % 4);
#pragma unroll
      for (int i = 0; i < sums / 4; ++i)
        factors[i] = table.of[pair * (sums / 4) + i][line];
    }
    /// Elements 2 t, + 1 and + 8, + 9 of half `half` of the pair's first group or its second one.
    __device__ __forceinline__ void take(unsigned (&pairs)[2], const unsigned char* piece, int pair,
                                         int odd, int half) const {
      if constexpr (sums > 0) {
        using Numbers = QuantNumbers<Quants::wide>;
        const float2 of = factors[sums == 8 ? odd : 2 * odd + half];
        const unsigned quants = Quants::quants(raw, pair, odd, half);
        float values[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          values[i] = __fmaf_rn(Numbers::number(quants, i), of.x, -of.y);
        pairs[0] = pairFromFloat<T>(values[0], values[1]);
        pairs[1] = pairFromFloat<T>(values[2], values[3]);
      } else {
        const int first = 64 * pair + 32 * odd + 16 * half + 2 * (threadIdx.x % 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float values[2];
          E::decode(values, piece, first + 8 * i);
          pairs[i] = pairFromFloat<T>(values[0], values[1]);
        }
      }
    }
  };
};

/// The same of type F16 in arithmetic of 16 bits, which takes fewer instructions.
template <typename E> struct FactorsInHalves {
  using Quants = HalfQuants<E>;
  using Factors = typename Quants::Factors;
  static constexpr int sums = Quants::sums, lines = 16;
  struct Table {
    Factors of[sums][lines];
  };

  static __device__ __forceinline__ void fill(Table& table, const unsigned char* piece, int pitch) {
    const int line = threadIdx.x % lines, half = threadIdx.x % 32 / lines;
    Factors made[sums / 2];
    Quants::fill(made, piece + line * pitch, half);
#pragma unroll
    for (int i = 0; i < sums / 2; ++i)
      table.of[half * (sums / 2) + i][line] = made[i];
  }
  struct Pair {
    typename Quants::Raw raw;
    Factors factors[sums / 4];

    __device__ __forceinline__ void load(const Table& table, const unsigned char* piece, int line,
                                         int pair) {
      raw = Quants::load(piece, pair, threadIdx.x % 4);
#pragma unroll
      for (int i = 0; i < sums / 4; ++i)
        factors[i] = table.of[pair * (sums / 4) + i][line];
    }
    __device__ __forceinline__ void take(unsigned (&pairs)[2], const unsigned char*, int pair,
                                         int odd, int half) const {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        pairs[i] = Quants::value(Quants::number(raw, pair, odd, half, i),
                                 factors[sums == 8 ? odd : 2 * odd + half], pair, odd, half);
    }
  };
};
template <typename E, typename T, bool inHalves = HalfQuants<E>::sums != 0> struct FactorsOf16 {
  using Type = FactorsInFloat<E, T>;
};
template <typename E> struct FactorsOf16<E, F16, true> {
  using Type = FactorsInHalves<E>;
};
template <typename E, typename T> struct BlockFactors : FactorsOf16<E, T>::Type {};

/// Pieces of `lines` lines of W in shared memory, `pieces` of them on their way or waiting: a warp
/// brings them, the warps of warpgroups take them. `matrices` have as many lines each of a tile.
template <typename E, int lines, int matrices, int pieces> struct BlockRing {
  using Piece = LinePiece<E>;
  static constexpr int ofMatrix = lines / matrices;
  struct alignas(16) Shared {
    unsigned char bytes[pieces][lines * Piece::pitch];
    ReleaseBarrier full[pieces], empty[pieces];
  };

  /// `takers`: warps that take each piece.
  static __device__ __forceinline__ void open(Shared& shared, int takers) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      shared.full[i].init(32);
      shared.empty[i].init(takers);
    }
  }
  /// Starts the copies of piece `piece` of lines `first` ... of each matrix of `count` lines of
  /// `lineBytes`, by all threads of a warp. Lines after the matrix keep what was there, which
  /// reaches no result that is stored.
  static __device__ __forceinline__ void bring(Shared& shared, int slot,
                                               const unsigned char* const (&matrix)[matrices],
                                               int first, int count, int lineBytes, int piece,
                                               unsigned long long policy) {
    const unsigned target = sharedAddress(shared.bytes[slot]);
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      const unsigned char* const source =
          matrix[i] + static_cast<long long>(first) * lineBytes + (Piece::begin(piece) & ~15);
#pragma unroll
      for (int chunk = 0; chunk + 8 <= Piece::chunks; chunk += 8)
        bringChunks<8>(target + i * ofMatrix * Piece::pitch, source, chunk, count - first,
                       lineBytes, Piece::begin(piece) & ~15, policy);
      constexpr int left = Piece::chunks % 8;
      if constexpr (left > 0)
        bringChunks<(left > 4   ? 8
                     : left > 2 ? 4
                                : left)>(target + i * ofMatrix * Piece::pitch, source,
                                         Piece::chunks - left, count - first, lineBytes,
                                         Piece::begin(piece) & ~15, policy);
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     sharedAddress(&shared.full[slot].state))
                 : "memory");
  }

private:
  /// Up to `together` chunks of all lines of a matrix from chunk `chunk` on.
  template <int together>
  static __device__ __forceinline__ void bringChunks(unsigned target, const unsigned char* source,
                                                     int chunk, int there, int lineBytes, int place,
                                                     unsigned long long policy) {
    constexpr int step = 32 / together; // lines
    const int line = threadIdx.x % 32 / together;
    chunk += threadIdx.x % together;
    if (chunk >= Piece::chunks || place + 16 * chunk >= lineBytes)
      return;
    unsigned to = target + line * Piece::pitch + 16 * chunk;
    // The whole address in a register of the thread: ptxas 13.0 puts a part of it into a uniform
    // register, which a copy under a policy cannot encode, and makes an illegal instruction.
    asm volatile("" : "+r"(to));
    const unsigned char* from = source + static_cast<long long>(line) * lineBytes + 16 * chunk;
#pragma unroll 4
    for (int i = 0; i < ofMatrix / step; ++i) {
      if (line + i * step < there)
        copyRun(to, from, true, policy);
      to += step * Piece::pitch;
      asm volatile("" : "+r"(to));
      from += static_cast<long long>(step) * lineBytes;
    }
  }
};

} // namespace tenon
