// Elements of the heads of KV caches: of a plain type, or quants that share a scale
// (ir/encoding/CacheEncoding.h).
#pragma once
#include "memory.cuh"

namespace tenon {

/// Heads of `size` int8, E4M3 or int4 numbers, each after its scale in binary32.
template <int size> struct Int8Head {};
template <int size> struct E4M3Head {};
template <int size> struct Int4Head {};

/// How a head in memory is read: one of elements of type T.
template <typename T> struct CacheElements {
  using Memory = T;                             ///< what a pointer to a head points to
  static constexpr int widest = 16 / sizeof(T); ///< elements of the widest load
  static constexpr bool hasScale = false;
  static constexpr int bytes = 0; ///< of a head of quants

  template <int count>
  static __device__ __forceinline__ void load(float (&values)[count], const T* head, int first) {
    loadVector(values, head + first);
  }
  static __device__ __forceinline__ float scaleOf(const T*) { return 1.0f; }
};

/// One of quants, 1 or 2 in a byte, the first in its lower half: `Quants` makes a number of one and
/// one of a number.
template <int size, typename Quants> struct QuantizedHead {
  using Memory = unsigned char;
  static constexpr int widest = 4; // a head is a multiple of 4 bytes
  static constexpr bool hasScale = true;
  static constexpr int inByte = Quants::inByte, bytes = 4 + size / inByte;

  /// The numbers, without the scale.
  template <int count>
  static __device__ __forceinline__ void load(float (&values)[count], const unsigned char* head,
                                              int first) {
    static_assert(count == widest, "one word");
    using Bits = typename Word<count / inByte>::type;
    const unsigned word = *reinterpret_cast<const Bits*>(head + 4 + first / inByte);
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = Quants::number(static_cast<unsigned char>(word >> 8 / inByte * i));
  }
  static __device__ __forceinline__ float scaleOf(const unsigned char* head) {
    return *reinterpret_cast<const float*>(head);
  }

  /// Encodes the head at `source`; by the lanes of a warp.
  template <typename T>
  static __device__ __forceinline__ void store(unsigned char* head, const T* source) {
    const int lane = threadIdx.x % 32;
    float most = 0.0f, least = 0.0f;
    for (int i = lane; i < size; i += 32) {
      most = fmaxf(most, toFloat(source[i]));
      least = fminf(least, toFloat(source[i]));
    }
#pragma unroll
    for (int offset = 16; offset >= 1; offset /= 2) {
      most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
      least = fminf(least, __shfl_xor_sync(0xFFFFFFFFu, least, offset));
    }
    const float rounded = toFloat(fromFloat<BF16>(Quants::scale(most, least)));
    const bool usable = fabsf(rounded) >= 7.8886090522101180541e-31f /* 2^-100 */ &&
                        fabsf(rounded) <= 3.3895313892515355e38f /* the largest bfloat16 */;
    const float inverse = usable ? 1.0f / rounded : 0.0f;
    for (int i = lane; i < size / inByte; i += 32) {
      unsigned byte = 0;
#pragma unroll
      for (int j = 0; j < inByte; ++j)
        byte |= Quants::quant(toFloat(source[inByte * i + j]) * inverse) << 8 / inByte * j;
      head[4 + i] = static_cast<unsigned char>(byte);
    }
    if (lane == 0)
      *reinterpret_cast<float*>(head) = usable ? rounded : 0.0f;
  }
};

/// The nearest integer to a number within ±2^22, ties to even.
__device__ __forceinline__ int roundToEven(float value) {
  const float shift = 12582912.0f; // a sum with it has no digits after the point
  return static_cast<int>((value + shift) - shift);
}

/// The nearest integer within ±127, ties to even; −127 for NaN.
struct Int8Quants {
  static constexpr int inByte = 1;
  static constexpr float most = 127.0f;
  static __device__ __forceinline__ float scale(float largest, float smallest) {
    return fmaxf(largest, -smallest) / most;
  }
  static __device__ __forceinline__ float number(unsigned char bits) {
    return static_cast<float>(static_cast<signed char>(bits));
  }
  static __device__ __forceinline__ unsigned char quant(float value) {
    return static_cast<unsigned char>(roundToEven(fminf(fmaxf(value, -most), most)));
  }
};

/// The nearest integer from -8 to 7, ties to even, plus 8; -8 for NaN. The number of the largest
/// magnitude is -8 scales.
struct Int4Quants {
  static constexpr int inByte = 2;
  static __device__ __forceinline__ float scale(float largest, float smallest) {
    return (largest > -smallest ? largest : smallest) / -8.0f;
  }
  static __device__ __forceinline__ float number(unsigned char bits) {
    return static_cast<float>(static_cast<int>(bits & 15) - 8);
  }
  static __device__ __forceinline__ unsigned quant(float value) {
    return roundToEven(fminf(fmaxf(value, -8.0f), 7.0f)) + 8;
  }
};

/// The nearest E4M3 number within ±448, ties to even: its seven bits are a binary32's upper ones
/// 2^120 times too small, a binary16's 256 times.
struct E4M3Quants {
  static constexpr int inByte = 1;
  static constexpr float most = 448.0f;
  static __device__ __forceinline__ float scale(float largest, float smallest) {
    return fmaxf(largest, -smallest) / most;
  }
  static __device__ __forceinline__ float number(unsigned char bits) {
    return toFloat(F16{static_cast<unsigned short>((bits & 0x80) << 8 | (bits & 0x7F) << 7)}) *
           256.0f;
  }
  static __device__ __forceinline__ unsigned char quant(float value) {
    const unsigned sign = __float_as_uint(value) >> 24 & 0x80;
    const float magnitude = fminf(fabsf(value), most);
    const unsigned bits = __float_as_uint(magnitude * 7.5231638452626400510e-37f /* 2^-120 */);
    const unsigned rounded = (bits + 0x7FFFF + (bits >> 20 & 1)) >> 20;
    return static_cast<unsigned char>(sign | (rounded & 0x7F));
  }
};

template <int size> struct CacheElements<Int8Head<size>> : QuantizedHead<size, Int8Quants> {};
template <int size> struct CacheElements<E4M3Head<size>> : QuantizedHead<size, E4M3Quants> {};
template <int size> struct CacheElements<Int4Head<size>> : QuantizedHead<size, Int4Quants> {};

/// What pointers to heads of `size` elements count from one to the next.
template <typename Head, int size>
constexpr int headUnits = CacheElements<Head>::hasScale ? CacheElements<Head>::bytes : size;

} // namespace tenon
