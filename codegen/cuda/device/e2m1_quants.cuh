// Quants that are E2M1 numbers: of MXFP4 and NVFP4.
#pragma once
#include "blocks.cuh"
#include "quant_formats.cuh"

namespace tenon {

/// Bytes that begin at any address in shared memory, as a multiple of 4 and how many lie between:
/// of all places that constants are apart, four differ by more than a constant, so that the rest is
/// the offset of a load.
struct UnalignedLine {
  const unsigned char* aligned;
  unsigned skipped;

  __device__ __forceinline__ UnalignedLine(const unsigned char* aligned, unsigned skipped)
      : aligned(aligned), skipped(skipped) {}
  __device__ __forceinline__ UnalignedLine(const unsigned char* bytes)
      : aligned(bytes), skipped(static_cast<unsigned>(__cvta_generic_to_shared(bytes)) & 3) {
    aligned -= skipped;
  }
  __device__ __forceinline__ UnalignedLine operator+(int offset) const {
    return {aligned + (offset & ~3), skipped + (offset & 3)};
  }
  __device__ __forceinline__ unsigned char operator[](int index) const {
    return aligned[static_cast<int>(skipped) + index];
  }
  /// Four bytes from `offset`, a multiple of 4, on: reads the word that the first one lies in and
  /// the next.
  __device__ __forceinline__ unsigned wordAt(int offset) const {
    const unsigned* const words =
        reinterpret_cast<const unsigned*>(aligned + (skipped & ~3u) + offset);
    return __funnelshift_r(words[0], words[1], 8 * skipped); // by as many bits as it is apart
  }
};

template <> struct LineOf<MXFP4> {
  using Type = UnalignedLine;
};

/// Twice an E2M1 number as a factor, beside half a scale: numbers are the lower halves of a word's
/// bytes, whose upper halves may be anything.
template <typename T> struct E2M1Factors;

/// In their place the four bits are 2^15 times too small.
template <> struct E2M1Factors<F16> {
  static constexpr float inverseUnit = 32768.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3C003C00u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = (bytes << 12 & 0x80008000u) | (bytes << 9 & 0x0E000E00u);
    pairs[1] = (bytes << 4 & 0x80008000u) | (bytes << 1 & 0x0E000E00u);
  }
};
/// In their place the four bits are 2^127 times too small.
template <> struct E2M1Factors<BF16> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = scaledBF16<0x7F00>((bytes << 12 & 0x80008000u) | (bytes << 6 & 0x01C001C0u));
    pairs[1] = scaledBF16<0x7F00>((bytes << 4 & 0x80008000u) | (bytes >> 2 & 0x01C001C0u));
  }
};

template <> struct Quants<MXFP4> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  unsigned words[4];

  __device__ __forceinline__ Quants(const UnalignedLine& line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
      words[tile] =
          (line + (tile * MXFP4::blockBytes + 1)).wordAt(4 * g * MXFP4::blockBytes + 4 * t);
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const {
    return words[tile] >> 4 * step;
  }
  static __device__ __forceinline__ GroupScale factors(const UnalignedLine& line, int g, int tile,
                                                       int) {
    return {halfE8M0(line[(4 * g + tile) * MXFP4::blockBytes])};
  }
};

/// Blocks E of `elements` that end in groups of 16 E2M1 numbers (E2M1Groups): a group of 32 has a
/// scale for each half.
template <typename E, int elements> struct E2M1GroupQuants {
  static constexpr int scales = 2, bias = 0;
  static constexpr bool inHalves = true, wide = false, inNibbles = false;
  static constexpr int headBytes = E::blockBytes - E2M1Groups<elements>::bytes;
  static constexpr int groups = elements / 32; ///< of 32, in a block
  unsigned words[4][2];

  static __device__ __forceinline__ const unsigned char* block(const unsigned char* line,
                                                               int group) {
    return line + group / groups * E::blockBytes + headBytes;
  }
  /// Elements 4 t to 4 t + 3 of 16 lie in the lower or upper halves of four of eight bytes.
  __device__ __forceinline__ E2M1GroupQuants(const unsigned char* line, int g, int t) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        const int group = 4 * g + tile;
        const unsigned char* const quants =
            block(line, group) + elements / 16 + group % groups * 16 + 8 * step + 4 * (t % 2);
        words[tile][step] = alignedWordAt(quants) >> t / 2 * 4;
      }
  }
  __device__ __forceinline__ unsigned word(int tile, int step) const { return words[tile][step]; }
  static __device__ __forceinline__ float scaleOf(const unsigned char* line, int g, int tile,
                                                  int half) {
    const int group = 4 * g + tile;
    return halfUE4M3(block(line, group)[group % groups * 2 + half]);
  }
};

template <> struct Quants<NVFP4> : E2M1GroupQuants<NVFP4, 64> {
  using E2M1GroupQuants::E2M1GroupQuants;
  static __device__ __forceinline__ GroupScale factors(const unsigned char* line, int g, int tile,
                                                       int half) {
    return {scaleOf(line, g, tile, half)};
  }
};

template <> struct Quants<NVFP4_F32> : E2M1GroupQuants<NVFP4_F32, 128> {
  using E2M1GroupQuants::E2M1GroupQuants;
  static __device__ __forceinline__ GroupScale factors(const unsigned char* line, int g, int tile,
                                                       int half) {
    const float ofAll = *reinterpret_cast<const float*>(block(line, 4 * g + tile) - headBytes);
    return {scaleOf(line, g, tile, half) * ofAll};
  }
};

template <typename T> struct FactorsOf<MXFP4, T> {
  using Type = E2M1Factors<T>;
};
template <typename T> struct FactorsOf<NVFP4, T> {
  using Type = E2M1Factors<T>;
};
template <typename T> struct FactorsOf<NVFP4_F32, T> {
  using Type = E2M1Factors<T>;
};

/// E2M1 numbers as E4M3, of which one instruction makes two factors of 16 bits, sm_89 and later,
/// 2^6 times too small, beside half a scale.
struct E4M3Steps {
  static constexpr float inverseUnit = 128.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3C003C00u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    const unsigned numbers = (bytes << 4 & 0x80808080u) | (bytes << 2 & 0x1C1C1C1Cu);
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(numbers));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pairs[0]) : "h"(low));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pairs[1]) : "h"(high));
  }
};
template <typename T> struct E2M1Round {
  using Type = F16;
  using Factors = E4M3Steps;
  static constexpr bool inOrder = true;
};
template <typename T> struct RoundFactors<MXFP4, T> : E2M1Round<T> {};
template <typename T> struct RoundFactors<NVFP4, T> : E2M1Round<T> {};
template <typename T> struct RoundFactors<NVFP4_F32, T> : E2M1Round<T> {};

} // namespace tenon
