// Quants of ggml's blocks of 32 elements.
#pragma once
#include "blocks.cuh"
#include "quant_formats.cuh"

namespace tenon {

template <> struct Quants<Q8_0> {
  static constexpr int scales = 1, bias = 128;
  static constexpr bool inHalves = false, wide = true, inNibbles = false;
  unsigned words[4][2];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
    const unsigned char* const blocks = line + 4 * g * Q8_0::blockBytes + 2 + 8 * t;
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
      for (int step = 0; step < 2; ++step)
        words[tile][step] = wordAt(blocks + tile * Q8_0::blockBytes + 4 * step, tile % 2 != 0);
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return words[tile][step] ^ 0x80808080u;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return {halfAt(line + (4 * g + tile) * Q8_0::blockBytes), 0.0f};
  }
};

template <> struct Quants<Q4_0> {
  static constexpr int scales = 1, bias = 8;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[4];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
      words[tile] = wordAt(line + (4 * g + tile) * Q4_0::blockBytes + 2 + 4 * t, tile % 2 != 0);
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return words[tile] >> 4 * step & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return {halfAt(line + (4 * g + tile) * Q4_0::blockBytes), 0.0f};
  }
};

template <> struct Quants<Q4_1> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[4];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
      words[tile] = alignedWordAt(line + (4 * g + tile) * Q4_1::blockBytes + 4 + 4 * t);
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return words[tile] >> 4 * step & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    const unsigned char* const block = line + (4 * g + tile) * Q4_1::blockBytes;
    return {halfAt(block), -halfAt(block + 2)};
  }
};

template <> struct Quants<Q5_0> {
  static constexpr int scales = 1, bias = 16;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[4], high[4];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const unsigned char* const block = line + (4 * g + tile) * Q5_0::blockBytes;
      words[tile] = wordAt(block + 6 + 4 * t, tile % 2 != 0);
      high[tile] = wordAt(block + 2, tile % 2 != 0) >> 4 * t;
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return (words[tile] >> 4 * step & 0x0F0F0F0Fu) | spreadBits(high[tile] >> 16 * step) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return {halfAt(line + (4 * g + tile) * Q5_0::blockBytes), 0.0f};
  }
};

template <> struct Quants<Q5_1> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[4], high[4];

  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const unsigned char* const block = line + (4 * g + tile) * Q5_1::blockBytes;
      words[tile] = alignedWordAt(block + 8 + 4 * t);
      high[tile] = alignedWordAt(block + 4) >> 4 * t;
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return (words[tile] >> 4 * step & 0x0F0F0F0Fu) | spreadBits(high[tile] >> 16 * step) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    const unsigned char* const block = line + (4 * g + tile) * Q5_1::blockBytes;
    return {halfAt(block), -halfAt(block + 2)};
  }
};

/// The quants are the levels, 128 higher.
template <> struct Quants<IQ4_NL> {
  static constexpr int scales = 1, bias = 128;
  static constexpr bool inHalves = true, wide = true, inNibbles = false;
  unsigned levels[4][2]; // of bytes 0 and 1 of a word of numbers, and 2 and 3; two each

  /// The levels of the four numbers in the lower half of `numbers`.
  static __device__ __forceinline__ unsigned lookUp(unsigned numbers) {
    const unsigned low = __byte_perm(0x3F2D1801u, 0x766A5D4Fu, numbers & 0x7777u);
    const unsigned high = __byte_perm(0xA6998D81u, 0xF1D9C5B5u, numbers & 0x7777u);
    return __byte_perm(low, high, 0x3210u | (numbers & 0x8888u) >> 1);
  }
  __device__ __forceinline__ Quants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const unsigned char* const block = line + (4 * g + tile) * IQ4_NL::blockBytes;
      const unsigned numbers = wordAt(block + 2 + 4 * t, tile % 2 != 0);
      levels[tile][0] = lookUp(numbers), levels[tile][1] = lookUp(numbers >> 16);
    }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return __byte_perm(levels[tile][0], levels[tile][1], step == 0 ? 0x6420u : 0x7531u);
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* line, int g, int tile,
                                                         int) {
    return {halfAt(line + (4 * g + tile) * IQ4_NL::blockBytes), 0.0f};
  }
};

} // namespace tenon
