// Families of block encodings (ir/encoding/families): elements out of encoded rows.
#pragma once
#include "memory.cuh"

namespace tenon {

/// What stands for zero in a group of integers: their middle, a stored integer, a number added to
/// all.
enum class GroupZero { Middle, Stored, Minimum };

/// A row of groups of `size` integers: a scale, then a zero or a minimum where there is one, then
/// the quants: runs of 4, 8 or, of 8 bits, 32 in the lower bits of as many bytes, 32 elements
/// after each other; of 3 bits the third lie after all others, in order.
template <int bits, int size, typename Scale, GroupZero zero> struct Integers {
  static constexpr int blockElements = size;
  static constexpr int headBytes = zero == GroupZero::Middle ? 2 : 4;
  static constexpr int blockBytes = headBytes + size * bits / 8;
  static constexpr int lowBits = bits == 3 ? 2 : bits, run = bits == 8 ? 32 : 4 * lowBits;
  static constexpr int partBytes = 4 * lowBits; ///< of the lower bits of 32 elements
  static constexpr int highAt = headBytes + size * lowBits / 8;

  /// Elements [first, first + count) of the row at `row`; count divides 32.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* const block = row + static_cast<long long>(first / size) * blockBytes;
    const Scale* const head = reinterpret_cast<const Scale*>(block);
    const float scale = toFloat(head[0]);
    const int at = first % size, shift = at % 32 / run * lowBits;
    const unsigned char* const low = block + headBytes + at / 32 * partBytes + at % run;
    int middle = 1 << (bits - 1);
    if (zero == GroupZero::Stored)
      middle = reinterpret_cast<const unsigned short*>(block)[1];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      int quant = (low[i % run] >> (shift + i / run * lowBits)) & ((1 << lowBits) - 1);
      if (bits == 3)
        quant |= ((block[highAt + (at + i) / 8] >> (at + i) % 8) & 1) << 2;
      if constexpr (zero == GroupZero::Minimum)
        values[i] = scale * static_cast<float>(quant) + toFloat(head[1]);
      else
        values[i] = scale * static_cast<float>(quant - middle);
    }
  }
};

/// A row of blocks of `groups` groups of 128 integers of 4 bits: the quants of all, laid out as
/// those of Integers, then the scale, and the zero where there is one, of each; of two groups four
/// bytes after them.
template <int groups, typename Scale, GroupZero zero> struct WideIntegers {
  static constexpr int blockElements = 128 * groups, headsAt = 64 * groups;
  static constexpr int headBytes = (zero == GroupZero::Middle ? 2 : 4) + (groups == 2 ? 4 : 0);
  static constexpr int blockBytes = headsAt + groups * headBytes;

  /// What the quants of group `group` are multiplied with, and what stands for zero among them.
  static __device__ __forceinline__ float scaleOf(const unsigned char* block, int group) {
    return toFloat(*reinterpret_cast<const Scale*>(block + headsAt + group * headBytes));
  }
  static __device__ __forceinline__ int zeroOf(const unsigned char* block, int group) {
    if (zero == GroupZero::Middle)
      return 8;
    return *reinterpret_cast<const unsigned short*>(block + headsAt + group * headBytes + 2);
  }

  /// Elements [first, first + count) of the row at `row`; count divides 32.
  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* const block =
        row + static_cast<long long>(first / blockElements) * blockBytes;
    const int at = first % blockElements;
    const float scale = scaleOf(block, at / 128);
    const int middle = zeroOf(block, at / 128);
    const unsigned char* const quants = block + at / 32 * 16;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int in = at % 32 + i;
      const int quant = quants[in % 16] >> in / 16 * 4 & 15;
      values[i] = scale * static_cast<float>(quant - middle);
    }
  }
};

/// A row of groups of `size` E4M3 numbers of a byte after a scale in binary32.
template <int size> struct E4M3 {
  static constexpr int blockElements = size, blockBytes = 4 + size;

  /// The seven bits in the place of a binary16's upper ones are a number 256 times too small.
  static __device__ __forceinline__ float number(unsigned char bits) {
    return toFloat(F16{static_cast<unsigned short>((bits & 0x80) << 8 | (bits & 0x7F) << 7)}) *
           256.0f;
  }

  template <int count>
  static __device__ __forceinline__ void decode(float (&values)[count], const unsigned char* row,
                                                int first) {
    const unsigned char* const block = row + static_cast<long long>(first / size) * blockBytes;
    const float scale = *reinterpret_cast<const float*>(block);
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = scale * number(block[4 + first % size + i]);
  }
};

} // namespace tenon
