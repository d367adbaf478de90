// Element types and their conversions, without cuda_fp16.h: it costs more to parse than a kernel.
#pragma once

namespace tenon {

struct F16 {
  unsigned short bits; // IEEE binary16
};
struct BF16 {
  unsigned short bits;
};
struct Bool {
  unsigned char byte; // true unless it is 0; 1 is stored
};
using Int64 = long long;

__device__ __forceinline__ float toFloat(float value) { return value; }
__device__ __forceinline__ float toFloat(F16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
__device__ __forceinline__ float toFloat(BF16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

template <typename T> __device__ __forceinline__ T fromFloat(float value);
template <> __device__ __forceinline__ float fromFloat<float>(float value) { return value; }
template <> __device__ __forceinline__ F16 fromFloat<F16>(float value) {
  F16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
template <> __device__ __forceinline__ BF16 fromFloat<BF16>(float value) {
  BF16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

/// Integers and bools are computed in 64 bits, a bool as 0 or 1.
__device__ __forceinline__ Int64 toInteger(int value) { return value; }
__device__ __forceinline__ Int64 toInteger(Int64 value) { return value; }
__device__ __forceinline__ Int64 toInteger(Bool value) { return value.byte != 0 ? 1 : 0; }

/// The lower bits of `value`.
template <typename T> __device__ __forceinline__ T fromInteger(Int64 value);
template <> __device__ __forceinline__ int fromInteger<int>(Int64 value) {
  return static_cast<int>(value);
}
template <> __device__ __forceinline__ Int64 fromInteger<Int64>(Int64 value) { return value; }
template <> __device__ __forceinline__ Bool fromInteger<Bool>(Int64 value) {
  return {static_cast<unsigned char>(value & 1)};
}
/// `value` cut to T and widened again.
template <typename T> __device__ __forceinline__ Int64 wrapTo(Int64 value) {
  return toInteger(fromInteger<T>(value));
}

/// Sums, differences and products of 64 bits that wrap.
__device__ __forceinline__ Int64 wrappedSum(Int64 a, Int64 b) {
  return static_cast<Int64>(static_cast<unsigned long long>(a) +
                            static_cast<unsigned long long>(b));
}
__device__ __forceinline__ Int64 wrappedDifference(Int64 a, Int64 b) {
  return static_cast<Int64>(static_cast<unsigned long long>(a) -
                            static_cast<unsigned long long>(b));
}
__device__ __forceinline__ Int64 wrappedProduct(Int64 a, Int64 b) {
  return static_cast<Int64>(static_cast<unsigned long long>(a) *
                            static_cast<unsigned long long>(b));
}

/// Two elements of 16 bits in a register, `low` in its lower half.
template <typename T> __device__ __forceinline__ unsigned pairFromFloat(float low, float high);
template <> __device__ __forceinline__ unsigned pairFromFloat<F16>(float low, float high) {
  unsigned result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
template <> __device__ __forceinline__ unsigned pairFromFloat<BF16>(float low, float high) {
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// The sums of two pairs of elements, each rounded to T once.
template <typename T> __device__ __forceinline__ unsigned addPairs(unsigned a, unsigned b);
template <> __device__ __forceinline__ unsigned addPairs<F16>(unsigned a, unsigned b) {
  unsigned result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
template <> __device__ __forceinline__ unsigned addPairs<BF16>(unsigned a, unsigned b) {
  unsigned result; // a * 1 + b: bf16x2 has no sum of its own before sm_90
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(0x3F803F80u), "r"(b));
  return result;
}

/// `value` rounded to T and widened again.
template <typename T> __device__ __forceinline__ float roundTo(float value) {
  return toFloat(fromFloat<T>(value));
}

/// 2^x, within 2 ulp; zero where it is less than 2^-126.
__device__ __forceinline__ float powerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// IEEE 754-2019 maximum and minimum: NaN if either is, +0 above -0.
__device__ __forceinline__ float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
__device__ __forceinline__ float minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

} // namespace tenon
