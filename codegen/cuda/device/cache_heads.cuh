// Elements of the heads of KV caches: of a plain type, or quants that share a scale
// (ir/encoding/CacheEncoding.h).
#pragma once
#include "memory.cuh"

namespace tenon {

/// Heads of `size` int8 or E4M3 numbers, each after its scale in binary32: 4 + size bytes.
template <int size> struct Int8Head {};
template <int size> struct E4M3Head {};

/// How a head in memory is read: one of elements of type T.
template <typename T> struct CacheElements {
  using Memory = T;                             ///< what a pointer to a head points to
  static constexpr int widest = 16 / sizeof(T); ///< elements of the widest load
  static constexpr bool hasScale = false;

  template <int count>
  static __device__ __forceinline__ void load(float (&values)[count], const T* head, int first) {
    loadVector(values, head + first);
  }
  static __device__ __forceinline__ float scaleOf(const T*) { return 1.0f; }
};

/// One of quants of a byte: `Quants` makes a number of one and one of a number.
template <int size, typename Quants> struct QuantizedHead {
  using Memory = unsigned char;
  using Quant = Quants;
  static constexpr int widest = 4; // a head is a multiple of 4 bytes
  static constexpr bool hasScale = true;
  static constexpr int bytes = 4 + size;

  /// The numbers, without the scale.
  template <int count>
  static __device__ __forceinline__ void load(float (&values)[count], const unsigned char* head,
                                              int first) {
    static_assert(count == widest, "one word");
    const unsigned word = *reinterpret_cast<const unsigned*>(head + 4 + first);
#pragma unroll
    for (int i = 0; i < count; ++i)
      values[i] = Quants::number(static_cast<unsigned char>(word >> 8 * i));
  }
  static __device__ __forceinline__ float scaleOf(const unsigned char* head) {
    return *reinterpret_cast<const float*>(head);
  }

  /// Encodes the head at `source`; by the lanes of a warp.
  template <typename T>
  static __device__ __forceinline__ void store(unsigned char* head, const T* source) {
    const int lane = threadIdx.x % 32;
    float largest = 0.0f;
    for (int i = lane; i < size; i += 32)
      largest = fmaxf(largest, fabsf(toFloat(source[i])));
#pragma unroll
    for (int offset = 16; offset >= 1; offset /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, offset));
    const float rounded = toFloat(fromFloat<BF16>(largest / Quants::most));
    const bool usable = rounded >= 7.8886090522101180541e-31f /* 2^-100 */ &&
                        rounded <= 3.3895313892515355e38f /* the largest bfloat16 */;
    const float inverse = usable ? 1.0f / rounded : 0.0f;
    for (int i = lane; i < size; i += 32)
      head[4 + i] = Quants::quant(toFloat(source[i]) * inverse);
    if (lane == 0)
      *reinterpret_cast<float*>(head) = usable ? rounded : 0.0f;
  }
};

/// The nearest integer within ±127, ties to even; −127 for NaN.
struct Int8Quants {
  static constexpr float most = 127.0f;
  static __device__ __forceinline__ float number(unsigned char bits) {
    return static_cast<float>(static_cast<signed char>(bits));
  }
  static __device__ __forceinline__ unsigned char quant(float value) {
    const float held = fminf(fmaxf(value, -most), most);
    const float shift = 12582912.0f; // a sum with it has no digits after the point
    return static_cast<unsigned char>(static_cast<int>((held + shift) - shift));
  }
};

/// The nearest E4M3 number within ±448, ties to even: its seven bits are a binary32's upper ones
/// 2^120 times too small, a binary16's 256 times.
struct E4M3Quants {
  static constexpr float most = 448.0f;
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

/// What pointers to heads of `size` elements count from one to the next.
template <typename Head, int size>
constexpr int headUnits = sizeof(typename CacheElements<Head>::Memory) == 1 ? 4 + size : size;

} // namespace tenon
