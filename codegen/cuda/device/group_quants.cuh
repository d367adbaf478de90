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
  /// The seven bits in their place are 2^120 times too small: times 2^120, which is exact, less 0.
  static __device__ __forceinline__ unsigned place(unsigned upper) {
    const unsigned small = (upper & 0x80008000u) | (upper >> 4 & 0x07F007F0u);
    unsigned result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(small), "r"(0x7B807B80u), "r"(0x80008000u));
    return result;
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = place(__byte_perm(bytes, 0u, 0x2404u));
    pairs[1] = place(__byte_perm(bytes, 0u, 0x3414u));
  }
};

template <int size, typename T> struct FactorsOf<E4M3<size>, T> {
  using Type = E4M3Factors<T>;
};

} // namespace tenon
