// Products of block-quantised rows with 16-bit factors on tensor cores: quants are multiplied as
// integers, and scales stand behind the sums of a group.
#pragma once
#include "blocks.cuh"
#include "mma.cuh"

namespace tenon {

/// Four bytes at an address that is a multiple of 2.
__device__ __forceinline__ unsigned wordAt(const unsigned char* source) {
  const unsigned short* halves = reinterpret_cast<const unsigned short*>(source);
  return halves[0] | static_cast<unsigned>(halves[1]) << 16;
}
__device__ __forceinline__ unsigned alignedWordAt(const unsigned char* source) {
  return *reinterpret_cast<const unsigned*>(source);
}
__device__ __forceinline__ float halfAt(const unsigned char* source) {
  return toFloat(*reinterpret_cast<const F16*>(source));
}

/// Bits 0 to 3 of `bits` as bytes 0 or 1.
__device__ __forceinline__ unsigned spreadBits(unsigned bits) {
  return (bits & 15) * 0x00204081u & 0x01010101u;
}

/// What a group of 32 elements of a row is multiplied with: value = scale * (quant - bias) - minimum.
struct GroupFactors {
  float scale, minimum;
};

/// How a group of encoding E is taken apart by four threads, eight elements each. `inHalves`: thread t
/// has elements 4 t to 4 t + 3 of both halves, else 8 t to 8 t + 7. `wide`: quants of 8 bits, else of
/// less. `scales`: of a group, one or one for each half. `word(block, group, half, t)`: those four
/// elements as bytes; without halves, `half` counts them. `factors(block, group, half)`.
template <typename E> struct Quants;

template <> struct Quants<Q8_0> {
  static constexpr int scales = 1, bias = 128;
  static constexpr bool inHalves = false, wide = true;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    return wordAt(block + 2 + 8 * t + 4 * half) ^ 0x80808080u;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), 0.0f};
  }
};

template <> struct Quants<Q4_0> {
  static constexpr int scales = 1, bias = 8;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    return wordAt(block + 2 + 4 * t) >> 4 * half & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), 0.0f};
  }
};

template <> struct Quants<Q4_1> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    return alignedWordAt(block + 4 + 4 * t) >> 4 * half & 0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), -halfAt(block + 2)};
  }
};

template <> struct Quants<Q5_0> {
  static constexpr int scales = 1, bias = 16;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    const unsigned high = wordAt(block + 2) >> (16 * half + 4 * t);
    return (wordAt(block + 6 + 4 * t) >> 4 * half & 0x0F0F0F0Fu) | spreadBits(high) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), 0.0f};
  }
};

template <> struct Quants<Q5_1> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    const unsigned high = alignedWordAt(block + 4) >> (16 * half + 4 * t);
    return (alignedWordAt(block + 8 + 4 * t) >> 4 * half & 0x0F0F0F0Fu) | spreadBits(high) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), -halfAt(block + 2)};
  }
};

/// The quants are the levels, 128 higher.
template <> struct Quants<IQ4_NL> {
  static constexpr int scales = 1, bias = 128;
  static constexpr bool inHalves = true, wide = true;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int, int half,
                                                  int t) {
    const unsigned numbers = wordAt(block + 2 + 4 * t) >> 4 * half & 0x0F0F0F0Fu;
    const unsigned pairs = (numbers | numbers >> 4) & 0x00FF00FFu;
    const unsigned selector = (pairs | pairs >> 8) & 0xFFFFu; // a number in each half byte
    const unsigned low = __byte_perm(0x3F2D1801u, 0x766A5D4Fu, selector & 0x7777u);
    const unsigned high = __byte_perm(0xA6998D81u, 0xF1D9C5B5u, selector & 0x7777u);
    return __byte_perm(low, high, 0x3210u | (selector & 0x8888u) >> 1);
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int, int) {
    return {halfAt(block), 0.0f};
  }
};

template <> struct Quants<Q4_K> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = false, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int group, int half,
                                                  int t) {
    return alignedWordAt(block + 16 + group / 2 * 32 + 8 * t + 4 * half) >> group % 2 * 4 &
           0x0F0F0F0Fu;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int group,
                                                         int) {
    const SixBitScales scales(block, group);
    return {scales.scale, scales.minimum};
  }
};

template <> struct Quants<Q5_K> {
  static constexpr int scales = 1, bias = 0;
  static constexpr bool inHalves = false, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int group, int half,
                                                  int t) {
    const int at = 8 * t + 4 * half;
    return (alignedWordAt(block + 48 + group / 2 * 32 + at) >> group % 2 * 4 & 0x0F0F0F0Fu) |
           (alignedWordAt(block + 16 + at) >> group & 0x01010101u) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int group,
                                                         int) {
    const SixBitScales scales(block, group);
    return {scales.scale, scales.minimum};
  }
};

template <> struct Quants<Q2_K> {
  static constexpr int scales = 2, bias = 0;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int group, int half,
                                                  int t) {
    return alignedWordAt(block + 16 + group / 4 * 32 + 16 * half + 4 * t) >> group % 4 * 2 &
           0x03030303u;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int group,
                                                         int half) {
    const int both = block[2 * group + half];
    return {halfAt(block + 80) * static_cast<float>(both & 15),
            halfAt(block + 82) * static_cast<float>(both >> 4)};
  }
};

template <> struct Quants<Q3_K> {
  static constexpr int scales = 2, bias = 4;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int group, int half,
                                                  int t) {
    const int at = 16 * half + 4 * t;
    return (wordAt(block + 32 + group / 4 * 32 + at) >> group % 4 * 2 & 0x03030303u) |
           (wordAt(block + at) >> group & 0x01010101u) << 2;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int group,
                                                         int half) {
    const unsigned char* const scales = block + 96;
    const int of16 = 2 * group + half;
    const int scale = ((scales[of16 % 8] >> of16 / 8 * 4) & 15) |
                      ((scales[8 + of16 % 4] >> of16 / 4 * 2) & 3) << 4;
    return {halfAt(block + 108) * static_cast<float>(scale - 32), 0.0f};
  }
};

template <> struct Quants<Q6_K> {
  static constexpr int scales = 2, bias = 32;
  static constexpr bool inHalves = true, wide = false;
  static __device__ __forceinline__ unsigned word(const unsigned char* block, int group, int half,
                                                  int t) {
    const int at = 16 * half + 4 * t, upper = group / 4, shift = group % 4;
    return (wordAt(block + 64 * upper + 32 * (shift % 2) + at) >> shift / 2 * 4 & 0x0F0F0F0Fu) |
           (wordAt(block + 128 + 32 * upper + at) >> 2 * shift & 0x03030303u) << 4;
  }
  static __device__ __forceinline__ GroupFactors factors(const unsigned char* block, int group,
                                                         int half) {
    const int scale = reinterpret_cast<const signed char*>(block)[192 + 2 * group + half];
    return {halfAt(block + 208) * static_cast<float>(scale), 0.0f};
  }
};

/// Bytes as factors of type T, whose value is (byte + shift) * unit, exactly.
template <typename T, bool wide> struct QuantFactors;

/// The bytes are bits 0 to 7 of subnormal numbers.
template <bool wide> struct QuantFactors<F16, wide> {
  static constexpr float inverseUnit = 16777216.0f; // 2^24
  static constexpr int shift = 0;
  static constexpr unsigned ones = 0x3C003C00u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(bytes, 0u, 0x4140u);
    pairs[1] = __byte_perm(bytes, 0u, 0x4342u);
  }
};
/// 0x43 in front of 7 bits is 128 and those.
template <> struct QuantFactors<BF16, false> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = 128;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(bytes, 0x43434343u, 0x4140u);
    pairs[1] = __byte_perm(bytes, 0x43434343u, 0x4342u);
  }
};
/// As f32, whose upper half the numbers from -128 to 127 fit into.
template <> struct QuantFactors<BF16, true> {
  static constexpr float inverseUnit = 1.0f;
  static constexpr int shift = -128;
  static constexpr unsigned ones = 0x3F803F80u;
  static __device__ __forceinline__ unsigned number(unsigned bytes, unsigned index) {
    constexpr float behind = 8388608.0f + 128.0f; // 2^23, whose last bits the byte is
    return __float_as_uint(__uint_as_float(__byte_perm(bytes, 0x4B000000u, 0x7540u | index)) -
                           behind);
  }
  static __device__ __forceinline__ void widen(unsigned (&pairs)[2], unsigned bytes) {
    pairs[0] = __byte_perm(number(bytes, 0), number(bytes, 1), 0x7632u);
    pairs[1] = __byte_perm(number(bytes, 2), number(bytes, 3), 0x7632u);
  }
};

/// Adds to sums[m][0], over the threads of a warp, the dot product of `count` elements at `bytes`, in
/// blocks of E, with row m of x, `stride` apart; `count` a multiple of 32. What count leaves of x's
/// rows is not read.
///
/// Row g of a tile is a group, column n the same elements of x, so that the groups' dot products lie
/// on the diagonal; rows 8 + g are ones, which adds up x. Four tiles, each with its columns turned by
/// two more, leave every thread the results of one group: it brings its scale, and adds
/// scale * (sum of quants - bias * sum of x) - minimum * sum of x.
template <typename E, typename T, int rows>
__device__ __forceinline__ void multiplyQuants(float (&sums)[rows][1], const unsigned char* bytes,
                                               const T* x, int stride, int count) {
  using Format = Quants<E>;
  using Factors = QuantFactors<T, Format::wide>;
  constexpr int tiles = 4, groupsOfBlock = E::blockElements / 32, scales = Format::scales;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int groups = count / 32, own = (t - g / 2) & 3;
  auto blockOf = [&](int group) { return bytes + group / groupsOfBlock * E::blockBytes; };
  // Which half comes first: so the threads of a warp read x from every bank once.
  auto halfAt = [](int group, int step) {
    return Format::inHalves ? step ^ (group / 2 % 2) : step;
  };
#pragma unroll 1
  for (int first = 0; first < groups; first += 8 * tiles) {
    unsigned quants[tiles][2][2];
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const int group = min(first + 8 * tile + g, groups - 1);
#pragma unroll
      for (int step = 0; step < 2; ++step)
        Factors::widen(quants[tile][step], Format::word(blockOf(group), group % groupsOfBlock,
                                                        halfAt(group, step), t));
    }
    const bool exists = first + 8 * own + g < groups;
    const int ownGroup = min(first + 8 * own + g, groups - 1);
    GroupFactors factors[scales];
#pragma unroll
    for (int i = 0; i < scales; ++i)
      factors[i] =
          Format::factors(blockOf(ownGroup), ownGroup % groupsOfBlock, halfAt(ownGroup, i));
#pragma unroll
    for (int m = 0; m < rows; ++m) {
      float dots[scales], totals[scales];
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
        const int group = min(first + 8 * tile + ((g - 2 * tile) & 7), groups - 1);
        const T* const row = x + m * stride + group * 32;
        uint2 v[2];
        if constexpr (Format::inHalves) {
          v[0] = *reinterpret_cast<const uint2*>(row + 16 * halfAt(group, 0) + 4 * t);
          v[1] = *reinterpret_cast<const uint2*>(row + 16 * halfAt(group, 1) + 4 * t);
        } else {
          const uint4 both = *reinterpret_cast<const uint4*>(row + 8 * t);
          v[0] = {both.x, both.y}, v[1] = {both.z, both.w};
        }
        float results[scales][4] = {};
#pragma unroll
        for (int step = 0; step < 2; ++step)
          multiplyAdd<T>(results[step % scales],
                         {quants[tile][step][0], Factors::ones, quants[tile][step][1],
                          Factors::ones},
                         {v[step].x, v[step].y});
#pragma unroll
        for (int i = 0; i < scales; ++i) {
          const float dot = g % 2 ? results[i][1] : results[i][0];
          const float total = g % 2 ? results[i][3] : results[i][2];
          dots[i] = tile == 0 || tile == own ? dot : dots[i];
          totals[i] = tile == 0 || tile == own ? total : totals[i];
        }
      }
#pragma unroll
      for (int i = 0; i < scales; ++i) {
        constexpr float offset = static_cast<float>(Format::bias + Factors::shift);
        const float less = __fmaf_rn(factors[i].scale, offset, factors[i].minimum);
        const float scaled = factors[i].scale * Factors::inverseUnit;
        const float sum = __fmaf_rn(scaled, dots[i], sums[m][0]);
        sums[m][0] = exists ? __fmaf_rn(-less, totals[i], sum) : sums[m][0];
      }
    }
  }
}

} // namespace tenon
