// Products of block-quantised rows with 16-bit factors on tensor cores: quants are multiplied as
// integers, and scales stand after the sums of a group. Threads take rounds of 32 groups of 32
// elements of a row; thread (g, t) of a warp, of number 4 g + t, has eight elements of the groups 4
// g to 4 g + 3.
#pragma once
#include "blocks.cuh"
#include "mma.cuh"
#include "reduce.cuh"

namespace tenon {

/// Four bytes at an address that is a multiple of 2.
__device__ __forceinline__ unsigned wordAt(const unsigned char* source) {
  const unsigned short* halves = reinterpret_cast<const unsigned short*>(source);
  return halves[0] | static_cast<unsigned>(halves[1]) << 16;
}
__device__ __forceinline__ unsigned alignedWordAt(const unsigned char* source) {
  return *reinterpret_cast<const unsigned*>(source);
}
/// Four bytes at a multiple of 4, or 2 after one.
__device__ __forceinline__ unsigned wordAt(const unsigned char* source, bool isAligned) {
  return isAligned ? alignedWordAt(source)
                   : __byte_perm(alignedWordAt(source - 2), alignedWordAt(source + 2), 0x5432u);
}
__device__ __forceinline__ float halfAt(const unsigned char* source) {
  return toFloat(*reinterpret_cast<const F16*>(source));
}

/// Bits 0 to 3 of `bits` as bytes 0 or 1.
__device__ __forceinline__ unsigned spreadBits(unsigned bits) {
  return (bits & 15) * 0x00204081u & 0x01010101u;
}

/// What a group of 32 elements of a row is multiplied with: value = scale * (quant - bias) -
/// minimum.
struct GroupFactors {
  float scale, minimum;
};

/// How encoding E stores a round of a line. An object has the quants of eight elements of the
/// groups 4 g to 4 g + 3: `word(tile, step)` is four of group 4 g + tile as bytes. `inHalves`:
/// thread t has elements 4 t to 4 t + 3 of both halves of a group, else 8 t to 8 t + 7. `wide`:
/// quants of 8 bits, else of less. `inNibbles`:
/// `nibbles(tile, step)` has them in the lower halves of bytes where the tile is even, else in the upper ones.
/// `scales`: of a group, one or one for each half. `factors(line, g, tile, half)` are those of group 4 g + tile.
/// A line begins at a multiple of 16 bytes, its rounds follow one another.
template <typename E> struct Quants;

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

/// The bytes of a line, as the format of its quants takes them.
template <typename E> struct LineOf {
  using Type = const unsigned char*;
};
template <> struct LineOf<MXFP4> {
  using Type = UnalignedLine;
};

/// What a group is multiplied with whose numbers have no bias and no minimum.
struct GroupScale {
  float scale;

  __device__ __forceinline__ operator GroupFactors() const { return {scale, 0.0f}; }
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
/// In their place the four bits are 2^127 times too small: times 2^127, which is exact, less 0.
template <> struct E2M1Factors<BF16> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ unsigned scaled(unsigned small) {
    unsigned result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(small), "r"(0x7F007F00u), "r"(0x80008000u));
    return result;
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = scaled((bytes << 12 & 0x80008000u) | (bytes << 6 & 0x01C001C0u));
    pairs[1] = scaled((bytes << 4 & 0x80008000u) | (bytes >> 2 & 0x01C001C0u));
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

/// The same of groups 4 half to 4 half + 3.
__device__ __forceinline__ void sixBitFactors(GroupFactors (&made)[4], const unsigned char* block,
                                              int half) {
  const uint4 head = *reinterpret_cast<const uint4*>(block);
  const unsigned upperScales = (head.w & 0x0F0F0F0Fu) | (head.y >> 2 & 0x30303030u);
  const unsigned upperMinimums = (head.w >> 4 & 0x0F0F0F0Fu) | (head.z >> 2 & 0x30303030u);
  const unsigned bytes[2] = {half ? upperScales : head.y & 0x3F3F3F3Fu,
                             half ? upperMinimums : head.z & 0x3F3F3F3Fu};
  const F16* const factors = reinterpret_cast<const F16*>(block);
  const float scale = toFloat(factors[0]), minimum = toFloat(factors[1]);
  constexpr float behind = 8388608.0f; // 2^23, whose last bits a byte is
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float of[2] = {__uint_as_float(__byte_perm(bytes[0], 0x4B000000u, 0x7540u | i)) - behind,
                         __uint_as_float(__byte_perm(bytes[1], 0x4B000000u, 0x7540u | i)) - behind};
    made[i] = {scale * of[0], minimum * of[1]};
  }
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

/// Bytes as factors of type T, whose value is (byte + shift) * unit, exactly; of four the first and
/// the third in pairs[0], the second and the fourth in pairs[1].
template <typename T, bool wide> struct QuantFactors;

/// The bytes are bits 0 to 7 of subnormal numbers.
template <bool wide> struct QuantFactors<F16, wide> {
  static constexpr float inverseUnit = 16777216.0f; // 2^24
  static constexpr int shift = 0;
  static constexpr bool takesBitsInPlace = true;
  static constexpr unsigned ones = 0x3C003C00u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(bytes, 0u, 0x4240u);
    pairs[1] = __byte_perm(bytes, 0u, 0x4341u);
  }
};
/// 0x43 in front of 7 bits is 128 and those.
template <> struct QuantFactors<BF16, false> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = 128;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(bytes, 0x43434343u, 0x4240u);
    pairs[1] = __byte_perm(bytes, 0x43434343u, 0x4341u);
  }
};
/// As f32, whose upper half the numbers from -128 to 127 fit into.
template <> struct QuantFactors<BF16, true> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = -128;
  static constexpr bool takesBitsInPlace = false;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ unsigned number(unsigned bytes, unsigned index) {
    constexpr float behind = 8388608.0f + 128.0f; // 2^23, whose last bits the byte is
    return __float_as_uint(__uint_as_float(__byte_perm(bytes, 0x4B000000u, 0x7540u | index)) -
                           behind);
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(number(bytes, 0), number(bytes, 2), 0x7632u);
    pairs[1] = __byte_perm(number(bytes, 1), number(bytes, 3), 0x7632u);
  }
};

/// What makes factors of type T of the bytes of encoding E.
template <typename E, typename T> struct FactorsOf {
  using Type = QuantFactors<T, Quants<E>::wide>;
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

/// How a round multiplies with x of type T: factors of `Type`, in the order of the bytes of a word
/// (`inOrder`) or the first and the third before the others.
template <typename E, typename T> struct RoundFactors {
  using Type = T;
  using Factors = typename FactorsOf<E, T>::Type;
  static constexpr bool inOrder = false;
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

/// Factors `Type` of x of type T, which `narrow` multiplies with a power of two, `inverse` of it.
template <typename T, typename Type> struct NarrowedInput {
  static constexpr float inverse = 1.0f;
  template <int count> __device__ __forceinline__ explicit NarrowedInput(const uint2 (&)[count]) {}
  __device__ __forceinline__ unsigned narrow(unsigned pair) const { return pair; }
};
/// As F16, so that the largest of a warp's numbers is from 2^14 to 2^15: 2^-39 of it is what the
/// others may lose, less than a sum in f32 does.
template <> struct NarrowedInput<BF16, F16> {
  float power, inverse;

  template <int count> __device__ __forceinline__ explicit NarrowedInput(const uint2 (&x)[count]) {
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < count; ++i)
      largest = __vmaxu2(largest, __vmaxu2(x[i].x & 0x7FFF7FFFu, x[i].y & 0x7FFF7FFFu));
    largest = __reduce_max_sync(0xFFFFFFFFu, max(largest >> 16, largest & 0xFFFFu));
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
