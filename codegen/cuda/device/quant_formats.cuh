// What formats of quantised blocks say of themselves to what multiplies them on tensor cores: the
// quants that a thread takes of a round of a line (quants.cuh), and what scales a group of them.
#pragma once
#include "types.cuh"

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
__device__ __forceinline__ unsigned wordOf(const uint4& words, int index) {
  return index == 0 ? words.x : index == 1 ? words.y : index == 2 ? words.z : words.w;
}
__device__ __forceinline__ float halfAt(const unsigned char* source) {
  return toFloat(*reinterpret_cast<const F16*>(source));
}

/// Bits 0 to 3 of `bits` as bytes 0 or 1.
__device__ __forceinline__ unsigned spreadBits(unsigned bits) {
  return (bits & 15) * 0x00204081u & 0x01010101u;
}

/// Two BF16 numbers times the power of two whose bits as BF16 are `power`, exactly:
/// less 0, so that zeros keep their signs.
template <unsigned power> __device__ __forceinline__ unsigned scaledBF16(unsigned numbers) {
  unsigned result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(numbers), "r"(power * 0x10001u), "r"(0x80008000u));
  return result;
}

/// What a group of 32 elements of a row is multiplied with: value = scale * (quant - bias) -
/// minimum.
struct GroupFactors {
  float scale, minimum;
};

/// What a group is multiplied with whose numbers have no bias and no minimum.
struct GroupScale {
  float scale;

  __device__ __forceinline__ operator GroupFactors() const { return {scale, 0.0f}; }
};

/// How encoding E stores a round of a line. An object has the quants of eight elements of the
/// groups 4 g to 4 g + 3: `word(tile, step)` is four of group 4 g + tile as bytes. `inHalves`:
/// thread t has elements 4 t to 4 t + 3 of both halves of a group, else 8 t to 8 t + 7. `wide`:
/// quants of 8 bits, else of less. `inNibbles`:
/// `nibbles(tile, step)` has them in the lower halves of bytes where the tile is even, else in the upper ones.
/// `scales`: of a group, one or one for each half. `factors(line, g, tile, half)` are those of group 4 g + tile.
/// A line begins at a multiple of 16 bytes, its rounds follow one another.
template <typename E> struct Quants;

/// The bytes of a line, as the format of its quants takes them.
template <typename E> struct LineOf {
  using Type = const unsigned char*;
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

/// How a round multiplies with x of type T: factors of `Type`, in the order of the bytes of a word
/// (`inOrder`) or the first and the third before the others.
template <typename E, typename T> struct RoundFactors {
  using Type = T;
  using Factors = typename FactorsOf<E, T>::Type;
  static constexpr bool inOrder = false;
};

} // namespace tenon
