// Block-quantised encodings of the ggml family: elements out of encoded rows.
#pragma once
#include "groups.cuh"
#include "memory.cuh"

namespace tenon {

/// A row of 32-element blocks: a binary16 scale d and 32 signed bytes q; the value is d * q.
struct Q8_0 {
  static constexpr int blockElements = 32, blockBytes = 34;

  /// Elements [first, first + count) of the row at `row`, all of one block; count divides 32.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const float scale = toFloat(*reinterpret_cast<const F16*>(block));
    const signed char* quants = reinterpret_cast<const signed char*>(block) + 2 + first % 32;
    if (count % 2 == 0) {
#pragma unroll
      for (int i = 0; i < count; i += 2) {
        const short pair = *reinterpret_cast<const short*>(quants + i);
        values[i] = scale * static_cast<float>(static_cast<signed char>(pair & 0xFF));
        values[i + 1 < count ? i + 1 : i] = scale * static_cast<float>(pair >> 8);
      }
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i)
        values[i] = scale * static_cast<float>(quants[i]);
    }
  }
};

/// A row of 32-element blocks: a binary16 scale d and 16 bytes; byte j holds q[j] in its low and
/// q[j + 16] in its high half; the value is d * (q - 8).
struct Q4_0 {
  static constexpr int blockElements = 32, blockBytes = 18;

  /// Elements [first, first + count) of the row at `row`, all of one half block; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const float scale = toFloat(*reinterpret_cast<const F16*>(block));
    const int shift = first % 32 / 16 * 4;
    const unsigned char* quants = block + 2 + first % 16;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>(((quants[i] >> shift) & 15) - 8);
  }
};

/// A row of 32-element blocks: a binary16 scale d, a binary16 minimum m and quants as in Q4_0; the
/// value is d * q + m.
struct Q4_1 {
  static constexpr int blockElements = 32, blockBytes = 20;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const F16* factors = reinterpret_cast<const F16*>(block);
    const float scale = toFloat(factors[0]), minimum = toFloat(factors[1]);
    const int shift = first % 32 / 16 * 4;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>((block[4 + first % 16 + i] >> shift) & 15) + minimum;
  }
};

/// Quants of 5 bits: bit 4 of quant i is bit i of the 4 bytes at `high`, bits 0-3 as in Q4_0.
__device__ __forceinline__ int fiveBits(const unsigned char* high, const unsigned char* low,
                                        int i) {
  return ((low[i % 16] >> i / 16 * 4) & 15) | ((high[i / 8] >> i % 8) & 1) << 4;
}

/// A row of 32-element blocks: a binary16 scale d, 4 bytes of high bits, 16 of low ones; the value
/// is d * (q - 16).
struct Q5_0 {
  static constexpr int blockElements = 32, blockBytes = 22;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const float scale = toFloat(*reinterpret_cast<const F16*>(block));
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>(fiveBits(block + 2, block + 6, first % 32 + i) - 16);
  }
};

/// The same with a binary16 minimum m: d * q + m.
struct Q5_1 {
  static constexpr int blockElements = 32, blockBytes = 24;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const F16* factors = reinterpret_cast<const F16*>(block);
    const float scale = toFloat(factors[0]), minimum = toFloat(factors[1]);
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] =
          scale * static_cast<float>(fiveBits(block + 4, block + 8, first % 32 + i)) + minimum;
  }
};

/// A row of 32-element blocks laid out as Q4_0; a quant is the number of one of 16 levels, which
/// lie closer about zero; the value is d * level.
struct IQ4_NL {
  static constexpr int blockElements = 32, blockBytes = 18;

  /// Level `quant`, a byte of four words: ggml's kvalues_iq4nl, -127 -104 -83 ... 113.
  static __device__ __forceinline__ int level(int quant) {
    const unsigned low = quant & 4 ? 0xF6EADDCFu : 0xBFAD9881u;
    const unsigned high = quant & 4 ? 0x71594535u : 0x26190D01u;
    const unsigned word = quant & 8 ? high : low;
    return static_cast<signed char>(word >> quant % 4 * 8 & 0xFF);
  }

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const float scale = toFloat(*reinterpret_cast<const F16*>(block));
    const int shift = first % 32 / 16 * 4;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>(level((block[2 + first % 16 + i] >> shift) & 15));
  }
};

/// E2M1 numbers as integers twice as large: number `bits` of a table of bytes.
__device__ __forceinline__ float doubledE2M1(int bits) {
  const unsigned word = bits & 4 ? 0x0C080604u : 0x03020100u;
  const float magnitude = static_cast<float>(word >> bits % 4 * 8 & 0xFF);
  return bits & 8 ? -magnitude : magnitude;
}
/// Half of 2^(exponent - 127): from an exponent of 2 on it is that of a float less 1, below the
/// number is subnormal.
__device__ __forceinline__ float halfE8M0(unsigned exponent) {
  return __uint_as_float(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
}
/// Half of the E4M3 number of the lower seven bits, which in the place of a float's upper ones are
/// 2^120 times too small; 0 where all are set and the eighth is not.
__device__ __forceinline__ float halfUE4M3(unsigned bits) {
  return bits == 0x7F ? 0.0f : __uint_as_float((bits & 0x7F) << 20) * 0x1p119f;
}

/// A row of 32-element blocks: a byte e and quants as in Q4_0, which are E2M1 numbers; the value is
/// 2^(e - 127) * number.
struct MXFP4 {
  static constexpr int blockElements = 32, blockBytes = 17;

  /// Elements [first, first + count) of the row at `row`, all of one half block; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 32) * blockBytes;
    const float scale = halfE8M0(block[0]);
    const int shift = first % 32 / 16 * 4;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * doubledE2M1((block[1 + first % 16 + i] >> shift) & 15);
  }
};

/// Groups of 16 E2M1 numbers: `elements` / 16 scales, E4M3 numbers without a sign, and after them
/// 8 bytes for each group: byte j holds q[j] in its low and q[j + 8] in its high half.
template <int elements> struct E2M1Groups {
  static constexpr int bytes = elements / 16 * 9;

  /// Elements [first, first + count) of the groups at `groups`, times `ofAll`; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* groups,
                                                int first, float ofAll) {
    const float scale = halfUE4M3(groups[first / 16]);
    const unsigned char* const quants = groups + elements / 16 + first / 16 * 8;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int at = first % 16 + i;
      values[i] = scale * doubledE2M1((quants[at % 8] >> at / 8 * 4) & 15) * ofAll;
    }
  }
};

/// A row of 64-element blocks of such groups.
struct NVFP4 {
  static constexpr int blockElements = 64, blockBytes = 36;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    E2M1Groups<64>::decode(values, row + static_cast<long long>(first / 64) * blockBytes,
                           first % 64, 1.0f);
  }
};

/// A row of 128-element blocks: a scale of all in binary32, then such groups.
struct NVFP4_F32 {
  static constexpr int blockElements = 128, blockBytes = 76;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 128) * blockBytes;
    E2M1Groups<128>::decode(values, block + 4, first % 128, *reinterpret_cast<const float*>(block));
  }
};

/// Eight scales and eight minimums of 6 bits in 12 bytes, as Q4_K and Q5_K store them: scales 0-3
/// and minimums 0-3 in the low bits of bytes 0-3 and 4-7, whose upper two bits and bytes 8-11 hold
/// the others.
struct SixBitScales {
  float scale, minimum;

  __device__ __forceinline__ SixBitScales(const unsigned char* block, int group) {
    const F16* factors = reinterpret_cast<const F16*>(block);
    const unsigned char* bytes = block + 4;
    int s, m;
    if (group < 4) {
      s = bytes[group] & 63;
      m = bytes[group + 4] & 63;
    } else {
      s = (bytes[group + 4] & 15) | bytes[group - 4] >> 6 << 4;
      m = bytes[group + 4] >> 4 | bytes[group] >> 6 << 4;
    }
    scale = toFloat(factors[0]) * static_cast<float>(s);
    minimum = toFloat(factors[1]) * static_cast<float>(m);
  }
};

/// A row of 256-element blocks in groups of 16: 16 bytes: byte g has a scale in its low, a minimum
/// in its high half; 64 bytes: byte 32 * h + j has quants of 2 bits 128 * h + j, + 32, + 64, + 96;
/// binary16 d and m; the value of group g is d * scales[g] * q - m * minimums[g].
struct Q2_K {
  static constexpr int blockElements = 256, blockBytes = 84;

  /// Elements [first, first + count), all of one group; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 256) * blockBytes;
    const int at = first % 256, factors = block[at / 16], shift = at % 128 / 32 * 2;
    const F16* const halves = reinterpret_cast<const F16*>(block + 80);
    const float scale = toFloat(halves[0]) * static_cast<float>(factors & 15);
    const float minimum = toFloat(halves[1]) * static_cast<float>(factors >> 4);
    const unsigned char* quants = block + 16 + at / 128 * 32 + at % 32;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>((quants[i] >> shift) & 3) - minimum;
  }
};

/// A row of 256-element blocks in groups of 16: 32 bytes: bit k of byte j is bit 2 of quant 32 * k
/// + j; 64 bytes of bits 0-1 as in Q2_K; 12 bytes of scales: byte j < 8 has bits 0-3 of scales j
/// and j + 8, byte 8 + j bits 4-5 of scales j, j + 4, j + 8, j + 12; a binary16 d. The value of
/// group g is d * (scales[g] - 32) * (q - 4).
struct Q3_K {
  static constexpr int blockElements = 256, blockBytes = 110;

  /// Elements [first, first + count), all of one group; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 256) * blockBytes;
    const int at = first % 256, group = at / 16;
    const unsigned char* const scales = block + 96;
    const int groupScale = ((scales[group % 8] >> group / 8 * 4) & 15) |
                           ((scales[8 + group % 4] >> group / 4 * 2) & 3) << 4;
    const float scale =
        toFloat(*reinterpret_cast<const F16*>(block + 108)) * static_cast<float>(groupScale - 32);
    const unsigned char* high = block + at % 32;
    const unsigned char* low = block + 32 + at / 128 * 32 + at % 32;
    const int highShift = at / 32, lowShift = at % 128 / 32 * 2;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * static_cast<float>(
                              (((low[i] >> lowShift) & 3) | ((high[i] >> highShift) & 1) << 2) - 4);
  }
};

/// A row of 256-element blocks in groups of 32: binary16 d and m, six-bit scales, 128 bytes: byte
/// 32 * h + j has quant 64 * h + j in its low half and + 32 in its high half; the value of group g
/// is d * scales[g] * q - m * minimums[g].
struct Q4_K {
  static constexpr int blockElements = 256, blockBytes = 144;

  /// Elements [first, first + count), all of one group; count divides 32.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 256) * blockBytes;
    const int group = first % 256 / 32, shift = group % 2 * 4;
    const SixBitScales scales(block, group);
    const unsigned char* quants = block + 16 + group / 2 * 32 + first % 32;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scales.scale * static_cast<float>((quants[i] >> shift) & 15) - scales.minimum;
  }
};

/// As Q4_K with a fifth bit: bit g of byte 16 + j belongs to quant 32 * g + j; the low bits follow.
struct Q5_K {
  static constexpr int blockElements = 256, blockBytes = 176;

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 256) * blockBytes;
    const int group = first % 256 / 32, shift = group % 2 * 4;
    const SixBitScales scales(block, group);
    const unsigned char* high = block + 16 + first % 32;
    const unsigned char* low = block + 48 + group / 2 * 32 + first % 32;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scales.scale *
                      static_cast<float>(((low[i] >> shift) & 15) | ((high[i] >> group) & 1) << 4) -
                  scales.minimum;
  }
};

/// A row of 256-element blocks in groups of 16: 128 bytes: byte 64 * h + j has bits 0-3 of quant
/// 128 * h + j in its low half, of + 64 in its high half; 64 bytes: byte 32 * h + j has bits 4-5 of
/// quants 128 * h + j, + 32, + 64, + 96; 16 signed scales; a binary16 d. The value of group g is
/// d * scales[g] * (q - 32).
struct Q6_K {
  static constexpr int blockElements = 256, blockBytes = 210;

  /// Elements [first, first + count), all of one group; count divides 16.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* block = row + static_cast<long long>(first / 256) * blockBytes;
    const int at = first % 256, half = at / 128, within = at % 128;
    const float scale =
        toFloat(*reinterpret_cast<const F16*>(block + 208)) *
        static_cast<float>(reinterpret_cast<const signed char*>(block)[192 + at / 16]);
    const unsigned char* low = block + 64 * half + within % 64;
    const unsigned char* high = block + 128 + 32 * half + within % 32;
    const int lowShift = within / 64 * 4, highShift = within / 32 * 2;
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] =
          scale * static_cast<float>(
                      (((low[i] >> lowShift) & 15) | ((high[i] >> highShift) & 3) << 4) - 32);
  }
};

/// Bytes of a row of `elements` elements.
template <typename E> struct RowBytes {
  static constexpr __device__ long long of(long long elements) {
    return elements / E::blockElements * E::blockBytes;
  }
};
template <> struct RowBytes<float> {
  static constexpr __device__ long long of(long long elements) { return elements * 4; }
};
template <> struct RowBytes<F16> {
  static constexpr __device__ long long of(long long elements) { return elements * 2; }
};
template <> struct RowBytes<BF16> {
  static constexpr __device__ long long of(long long elements) { return elements * 2; }
};

/// `count` elements from `first` on of row `row` of a table of encoding E with rows of `length`
/// elements; for plain types an address aligned for loadVector.
template <typename E, int count> struct DecodeRow {
  static __device__ __forceinline__ void load(float (&values)[count], const void* table,
                                              long long row, int length, int first) {
    E::decode(values, static_cast<const unsigned char*>(table) + row * RowBytes<E>::of(length),
              first);
  }
};
template <int count> struct DecodeRow<float, count> {
  static __device__ __forceinline__ void load(float (&values)[count], const void* table,
                                              long long row, int length, int first) {
    loadVector(values, static_cast<const float*>(table) + row * length + first);
  }
};
template <int count> struct DecodeRow<F16, count> {
  static __device__ __forceinline__ void load(float (&values)[count], const void* table,
                                              long long row, int length, int first) {
    loadVector(values, static_cast<const F16*>(table) + row * length + first);
  }
};
template <int count> struct DecodeRow<BF16, count> {
  static __device__ __forceinline__ void load(float (&values)[count], const void* table,
                                              long long row, int length, int first) {
    loadVector(values, static_cast<const BF16*>(table) + row * length + first);
  }
};

/// `decodeRow<Q8_0>(values, table, row, length, first)`: see DecodeRow.
template <typename E, int count>
__device__ __forceinline__ void decodeRow(float (&values)[count], const void* table, long long row,
                                          int length, int first) {
  DecodeRow<E, count>::load(values, table, row, length, first);
}

} // namespace tenon
