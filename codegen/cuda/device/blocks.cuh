// Block-quantised encodings of the ggml family: elements out of encoded rows.
#pragma once
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
