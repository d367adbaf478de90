// Loads and stores of short runs of elements, widened to f32, integers and bools to 64 bits.
#pragma once
#include "types.cuh"

namespace tenon {

/// Bits of `bytes` bytes that one instruction moves.
template <int bytes> struct Word;
template <> struct Word<1> {
  using type = unsigned char;
};
template <> struct Word<2> {
  using type = unsigned short;
};
template <> struct Word<4> {
  using type = unsigned;
};
template <> struct Word<8> {
  using type = uint2;
};
template <> struct Word<16> {
  using type = uint4;
};

/// The widest word, at most 16 bytes, that divides `bytes`.
constexpr __device__ int wordBytes(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

/// Elements as they lie in memory.
template <int count, typename T> union Packed {
  static constexpr int bytes = wordBytes(count * sizeof(T));
  using Bits = typename Word<bytes>::type;
  Bits words[count * sizeof(T) / bytes];
  T elements[count];
  unsigned pairs[(count * sizeof(T) + 3) / 4]; // of elements of 16 bits, the first the lower half
};

/// The policy of what is read once: first to leave the L2 cache.
__device__ __forceinline__ unsigned long long evictFirst() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// The policy of what may be read again.
__device__ __forceinline__ unsigned long long evictNormal() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// 16 bytes of a run that other loads bring the rest of: memory is read 256 bytes at a time.
__device__ __forceinline__ uint4 loadRun(const uint4* source) {
  uint4 words;
  asm volatile("ld.global.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(source));
  return words;
}

/// `count` elements from `source`, aligned to the widest word, as they lie there.
template <int count, typename T>
__device__ __forceinline__ void loadPacked(Packed<count, T>& packed, const T* source) {
#pragma unroll
  for (int i = 0; i < int(count * sizeof(T) / packed.bytes); ++i)
    packed.words[i] = reinterpret_cast<const typename Packed<count, T>::Bits*>(source)[i];
}

template <int count, typename T>
__device__ __forceinline__ Packed<count, T> loadPacked(const T* source) {
  Packed<count, T> packed;
  loadPacked(packed, source);
  return packed;
}

/// The elements as f32.
template <int count, typename T>
__device__ __forceinline__ void widen(float (&values)[count], const Packed<count, T>& packed) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    values[i] = toFloat(packed.elements[i]);
}
/// One instruction an element: out of a register's upper half toFloat takes two.
template <int count>
__device__ __forceinline__ void widen(float (&values)[count], const Packed<count, BF16>& packed) {
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    values[i] = __uint_as_float(packed.pairs[i / 2] << 16);
    values[i + 1] = __uint_as_float(packed.pairs[i / 2] & 0xFFFF0000u);
  }
  if (count % 2 == 1)
    values[count - 1] = toFloat(packed.elements[count - 1]);
}

/// The sums of the vectors `parts` by their weights, one after the other.
template <int count, int vectors, typename T, typename W>
__device__ __forceinline__ void addWeighted(float (&sums)[count],
                                            const Packed<count, T> (&parts)[vectors],
                                            const W (&weights)[vectors]) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    sums[i] = 0.0f;
#pragma unroll
  for (int vector = 0; vector < vectors; ++vector) {
    float values[count];
    widen(values, parts[vector]);
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums[i] = __fmaf_rn(toFloat(weights[vector]), values[i], sums[i]);
  }
}

/// `values` rounded to T, two by one instruction where they fill a register.
template <typename T, int count>
__device__ __forceinline__ Packed<count, T> pack(const float (&values)[count]) {
  Packed<count, T> packed;
  if constexpr (sizeof(T) == 2 && count % 2 == 0) {
#pragma unroll
    for (int i = 0; i < count; i += 2)
      packed.pairs[i / 2] = pairFromFloat<T>(values[i], values[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i)
      packed.elements[i] = fromFloat<T>(values[i]);
  }
  return packed;
}

/// The sums of elements of 16 bits, rounded to T: what addition in f32 and rounding to T gives,
/// too, because f32 has at least two bits more than twice T's (Figueroa, "When is double rounding
/// innocuous?", 1995).
template <int count, typename T>
__device__ __forceinline__ Packed<count, T> addPacked(const Packed<count, T>& a,
                                                      const Packed<count, T>& b) {
  static_assert(sizeof(T) == 2 && count % 2 == 0, "pairs of 16 bits");
  Packed<count, T> sum;
#pragma unroll
  for (int i = 0; i < count / 2; ++i)
    sum.pairs[i] = addPairs<T>(a.pairs[i], b.pairs[i]);
  return sum;
}

/// `count` elements from `source`, aligned to the widest word.
template <int count, typename T>
__device__ __forceinline__ void loadVector(float (&values)[count], const T* source) {
  Packed<count, T> packed;
  loadPacked(packed, source);
  widen(values, packed);
}

template <int count, typename T>
__device__ __forceinline__ void loadVector(Int64 (&values)[count], const T* source) {
  Packed<count, T> packed;
  loadPacked(packed, source);
#pragma unroll
  for (int i = 0; i < count; ++i)
    values[i] = toInteger(packed.elements[i]);
}

/// The first `valid` of `count` elements, `fill` for the others; any alignment of T.
template <int count, typename T>
__device__ __forceinline__ void loadPart(float (&values)[count], const T* source, int valid,
                                         float fill = 0.0f) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    values[i] = i < valid ? toFloat(source[i]) : fill;
}

template <int count, typename T>
__device__ __forceinline__ void loadPart(Int64 (&values)[count], const T* source, int valid) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    values[i] = i < valid ? toInteger(source[i]) : 0;
}

template <int count, typename T>
__device__ __forceinline__ void storePacked(T* target, const Packed<count, T>& packed) {
#pragma unroll
  for (int i = 0; i < int(count * sizeof(T) / packed.bytes); ++i)
    reinterpret_cast<typename Packed<count, T>::Bits*>(target)[i] = packed.words[i];
}

template <int count, typename T>
__device__ __forceinline__ void storeVector(T* target, const float (&values)[count]) {
  Packed<count, T> packed;
#pragma unroll
  for (int i = 0; i < count; ++i)
    packed.elements[i] = fromFloat<T>(values[i]);
  storePacked(target, packed);
}

template <int count, typename T>
__device__ __forceinline__ void storeVector(T* target, const Int64 (&values)[count]) {
  Packed<count, T> packed;
#pragma unroll
  for (int i = 0; i < count; ++i)
    packed.elements[i] = fromInteger<T>(values[i]);
  storePacked(target, packed);
}

template <int count, typename T>
__device__ __forceinline__ void storePart(T* target, const float (&values)[count], int valid) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < valid)
      target[i] = fromFloat<T>(values[i]);
}
template <int count, typename T>
__device__ __forceinline__ void storePart(T* target, const Int64 (&values)[count], int valid) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < valid)
      target[i] = fromInteger<T>(values[i]);
}

} // namespace tenon
