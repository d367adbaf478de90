// The quants of blocks by the places that a thread has in the left factors of warpgroups.
#pragma once
#include "quants.cuh"

namespace tenon {

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
/// What `Nibbles` loads of the lower four bits of a pair of blocks, and the fifth ones, of a word
/// `highAt` after a block's start: from bit 0 on those of elements 2 t and 2 t + 1.
template <typename Nibbles, int blockBytes, int highAt> struct WithFifthBits : Nibbles {
  struct Raw {
    typename Nibbles::Raw low;
    unsigned high[2];
  };
  static __device__ __forceinline__ Raw load(const unsigned char* piece, int pair, int t) {
    const unsigned char* const high = piece + 2 * pair * blockBytes + highAt;
    return {Nibbles::load(piece, pair, t),
            {wordAt(high) >> 2 * t, wordAt(high + blockBytes) >> 2 * t}};
  }
};
template <typename E, bool hasMinimum, int quantBias, int highAt>
struct FiveBitQuants : WithFifthBits<NibbleBlockQuants<E, hasMinimum, quantBias, highAt + 4>,
                                     E::blockBytes, highAt> {
  using Nibbles = NibbleBlockQuants<E, hasMinimum, quantBias, highAt + 4>;
  using Raw = typename WithFifthBits<Nibbles, E::blockBytes, highAt>::Raw;
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

} // namespace tenon
