// Quants of ggml's blocks of 256 elements.
#pragma once
#include "blocks.cuh"
#include "quant_formats.cuh"

namespace tenon {

/// Factors of group `group` of a block whose first 16 bytes are those of Q4_K and Q5_K
/// (SixBitScales), without branches.
__device__ __forceinline__ GroupFactors sixBitFactors(const unsigned char* block, int group) {
  const uint4 head =
      *reinterpret_cast<const uint4*>(block); // d and m; scales; minimums; upper groups
  const bool upper = group >= 4;
  const int shift = group % 4 * 8;
  const unsigned low = upper ? 0x0Fu : 0x3Fu, high = upper ? 0x30u : 0u;
  const unsigned scale =
      ((upper ? head.w : head.y) >> shift & low) | (head.y >> (shift + 2) & high);
  const unsigned minimum = ((upper ? head.w : head.z) >> (upper ? shift + 4 : shift) & low) |
                           (head.z >> (shift + 2) & high);
  const F16* const factors = reinterpret_cast<const F16*>(block);
  return {toFloat(factors[0]) * static_cast<float>(scale),
          toFloat(factors[1]) * static_cast<float>(minimum)};
}

/// The integers of groups 2 t and 2 t + 1 of such a block, as bytes: the scales', then the
/// minimums'.
__device__ __forceinline__ unsigned sixBitPair(const uint4& head, int t) {
  const unsigned select = t % 2 ? 0x7632u : 0x5410u;
  const unsigned first = __byte_perm(head.y, head.z, select);
  const unsigned last = __byte_perm(head.w, head.w >> 4, select);
  return t < 2 ? first & 0x3F3F3F3Fu : (first >> 2 & 0x30303030u) | (last & 0x0F0F0F0Fu);
}

/// The scale and the minimum of such a block, and the integers of groups 4 half to 4 half + 3 that
/// they are multiplied with.
struct SixBitIntegers {
  float scale, minimum;
  unsigned bytes[2]; // of scales, of minimums

  __device__ __forceinline__ SixBitIntegers(const unsigned char* block, int half) {
    const uint4 head = *reinterpret_cast<const uint4*>(block);
    const unsigned upperScales = (head.w & 0x0F0F0F0Fu) | (head.y >> 2 & 0x30303030u);
    const unsigned upperMinimums = (head.w >> 4 & 0x0F0F0F0Fu) | (head.z >> 2 & 0x30303030u);
    bytes[0] = half ? upperScales : head.y & 0x3F3F3F3Fu;
    bytes[1] = half ? upperMinimums : head.z & 0x3F3F3F3Fu;
    const F16* const factors = reinterpret_cast<const F16*>(block);
    scale = toFloat(factors[0]), minimum = toFloat(factors[1]);
  }
  /// The scales' of group i or, as `which` 1, the minimums'.
  __device__ __forceinline__ float of(int which, int i) const {
    constexpr float unit = 8388608.0f; // 2^23, whose last bits a byte is
    return __uint_as_float(__byte_perm(bytes[which], 0x4B000000u, 0x7540u | i)) - unit;
  }
};
__device__ __forceinline__ void sixBitFactors(GroupFactors (&made)[4], const unsigned char* block,
                                              int half) {
  const SixBitIntegers integers(block, half);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    made[i] = {integers.scale * integers.of(0, i), integers.minimum * integers.of(1, i)};
}

template <> struct Quants<Q4_K> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = false, wide = false, inNibbles = true;
  uint2 words[2]; // of groups 4 g and 4 g + 1, and of the next two

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const quants = line + g / 2 * Q4_K::blockBytes + 16 + g % 2 * 64 + 8 * t;
    words[0] = *reinterpret_cast<const uint2*>(quants);
    words[1] = *reinterpret_cast<const uint2*>(quants + 32);
  }
  __device__ __forceinline__ unsigned nibbles(int tile, int step) const {
    return step == 0 ? words[tile / 2].x : words[tile / 2].y;
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return nibbles(tile, step) >> tile % 2 * 4 & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return sixBitFactors(line + g / 2 * Q4_K::blockBytes, g % 2 * 4 + tile);
  }
};

template <> struct Quants<Q5_K> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = false, wide = false, inNibbles = false;
  unsigned low[2][2], high[2]; // bit i of bytes: of group 4 g + i

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const block = line + g / 2 * Q5_K::blockBytes;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const unsigned char* const quants = block + 48 + g % 2 * 64 + 32 * pair + 8 * t;
      const uint2 both = *reinterpret_cast<const uint2*>(quants);
      low[pair][0] = both.x, low[pair][1] = both.y;
    }
    const uint2 both = *reinterpret_cast<const uint2*>(block + 16 + 8 * t);
    high[0] = both.x >> g % 2 * 4, high[1] = both.y >> g % 2 * 4;
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return (low[tile / 2][step] >> tile % 2 * 4 & 0x0F0F0F0Fu) |
           (high[step] << (4 - tile) & 0x10101010u);
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return sixBitFactors(line + g / 2 * Q5_K::blockBytes, g % 2 * 4 + tile);
  }
};

template <> struct Quants<Q2_K> {
  static constexpr int scales = 2, bias = 0;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[2];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const quants = line + g / 2 * Q2_K::blockBytes + 16 + g % 2 * 32 + 4 * t;
    words[0] = alignedWordAt(quants), words[1] = alignedWordAt(quants + 16);
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return words[step] >> 2 * tile & 0x03030303u;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int half) {
    const unsigned char* const block = line + g / 2 * Q2_K::blockBytes;
    const int both = block[8 * (g % 2) + 2 * tile + half];
    return {halfAt(block + 80) * static_cast<float>(both & 15),
            halfAt(block + 82) * static_cast<float>(both >> 4)};
  }
};

template <> struct Quants<Q3_K> {
  static constexpr int scales = 2, bias = 4;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned low[2], high[2]; // bit i of high bytes: of group 4 g + i

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const block = line + g / 2 * Q3_K::blockBytes;
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      low[step] = wordAt(block + 32 + g % 2 * 32 + 16 * step + 4 * t);
      high[step] = wordAt(block + 16 * step + 4 * t) >> g % 2 * 4;
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    const unsigned bits = tile < 3 ? high[step] << (2 - tile) : high[step] >> 1;
    return (low[step] >> 2 * tile & 0x03030303u) | (bits & 0x04040404u);
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int half) {
    const unsigned char* const block = line + g / 2 * Q3_K::blockBytes;
    const unsigned char* const scales = block + 96;
    const int of16 = 8 * (g % 2) + 2 * tile + half;
    const int scale = ((scales[of16 % 8] >> of16 / 8 * 4) & 15) |
                      ((scales[8 + of16 % 4] >> of16 / 4 * 2) & 3) << 4;
    return {halfAt(block + 108) * static_cast<float>(scale - 32), 0.0f};
  }
};

template <> struct Quants<Q6_K> {
  static constexpr int scales = 2, bias = 32;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned low[2][2], high[2]; // low[i]: of groups 4 g + i and 4 g + i + 2

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const block = line + g / 2 * Q6_K::blockBytes;
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const int at = 16 * step + 4 * t;
      low[0][step] = wordAt(block + g % 2 * 64 + at);
      low[1][step] = wordAt(block + g % 2 * 64 + 32 + at);
      high[step] = wordAt(block + 128 + g % 2 * 32 + at);
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    const unsigned bits = tile < 3 ? high[step] << (4 - 2 * tile) : high[step] >> 2;
    return (low[tile % 2][step] >> tile / 2 * 4 & 0x0F0F0F0Fu) | (bits & 0x30303030u);
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int half) {
    const unsigned char* const block = line + g / 2 * Q6_K::blockBytes;
    const int at = 192 + 8 * (g % 2) + 2 * tile + half;
    const int scale = reinterpret_cast<const signed char*>(block)[at];
    return {halfAt(block + 208) * static_cast<float>(scale), 0.0f};
  }
};

} // namespace tenon
