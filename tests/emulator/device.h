// What CUDA C++ has and C++ has not, for kernels that are compiled for the host.
#pragma once
#include <math.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "Machine.h"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx (emulatedThread()->threadIndex)
#define blockIdx (emulatedThread()->blockIndex)
#define blockDim (emulatedThread()->blockSize)
#define gridDim (emulatedThread()->gridSize)

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < static_cast<std::common_type_t<A, B>>(a) ? b : a;
}
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) {
  return static_cast<std::common_type_t<A, B>>(a) < b ? b : a;
}

inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  uint64_t bytes = uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned from = selector >> 4 * i & 15, byte = bytes >> 8 * (from & 7) & 255;
    if (from & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}

inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return std::max(a >> 16, b >> 16) << 16 | std::max(a & 0xFFFFu, b & 0xFFFFu);
}

inline void __syncthreads() { emulatedBlockBarrier(0); }
inline int __syncthreads_or(int value) { return emulatedBlockBarrier(value != 0); }
inline void __threadfence() {}

namespace emulated {

/// The value of type T of each thread of the warp.
template <typename T> struct Lanes {
  static_assert(sizeof(T) <= 32);
  const unsigned char* slots;
  explicit Lanes(const T& own) : slots(emulatedExchange(&own, sizeof(T))) {}
  T operator[](int lane) const {
    T value;
    std::memcpy(&value, slots + 32 * lane, sizeof(T));
    return value;
  }
};
inline int lane() { return threadIdx.x % 32; }

} // namespace emulated

inline void __syncwarp(unsigned = ~0u) { emulated::Lanes<int>(0); }
template <typename T> T __shfl_xor_sync(unsigned, T value, int offset, int = 32) {
  return emulated::Lanes<T>(value)[emulated::lane() ^ offset];
}
template <typename T> T __shfl_sync(unsigned, T value, int source) {
  return emulated::Lanes<T>(value)[source % 32];
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  emulated::Lanes<int> all(predicate != 0);
  unsigned result = 0;
  for (int i = 0; i < 32; ++i)
    result |= static_cast<unsigned>(all[i] == 1) << i;
  return result;
}
inline int __all_sync(unsigned mask, int predicate) { return !__ballot_sync(mask, !predicate); }
inline int __reduce_min_sync(unsigned, int value) {
  emulated::Lanes<int> all(value);
  for (int i = 0; i < 32; ++i)
    value = std::min(value, all[i]);
  return value;
}
inline int __reduce_max_sync(unsigned, int value) {
  emulated::Lanes<int> all(value);
  for (int i = 0; i < 32; ++i)
    value = std::max(value, all[i]);
  return value;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }

template <typename T> T __ldcg(const T* source) { return *source; }
template <typename T> void __stcg(T* target, T value) { *target = value; }
template <typename T, typename U> T atomicAdd(T* target, U value) {
  T before = *target;
  *target = before + static_cast<T>(value);
  return before;
}
template <typename T, typename U> T atomicMax(T* target, U value) {
  T before = *target;
  *target = std::max<T>(before, static_cast<T>(value));
  return before;
}
template <typename T, typename U> T atomicMin(T* target, U value) {
  T before = *target;
  *target = std::min<T>(before, static_cast<T>(value));
  return before;
}
template <typename T, typename U> T atomicExch(T* target, U value) {
  return std::exchange(*target, static_cast<T>(value));
}
inline unsigned atomicInc(unsigned* target, unsigned most) {
  return std::exchange(*target, *target >= most ? 0 : *target + 1);
}

inline uint64_t __cvta_generic_to_shared(const void* pointer) { return emulatedHandle(pointer); }
inline void* __cvta_shared_to_generic(uint64_t handle) {
  return emulatedPointer(static_cast<unsigned>(handle));
}

// The instructions of asm statements: outputs first, then inputs. Names are the mnemonics.

inline float halfToFloat(unsigned short bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}
inline unsigned short floatToHalf(float value) {
  return std::bit_cast<unsigned short>(static_cast<_Float16>(value));
}
inline unsigned short floatToBfloat(float value) {
  unsigned bits = __float_as_uint(value);
  if (value != value)
    return 0x7FFF;
  return static_cast<unsigned short>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline float bfloatToFloat(unsigned short bits) { return __uint_as_float(unsigned{bits} << 16); }

inline void asm_cvt_f32_f16(float& y, unsigned short x) { y = halfToFloat(x); }
inline void asm_cvt_rn_f16_f32(unsigned short& y, float x) { y = floatToHalf(x); }
inline void asm_cvt_rn_bf16_f32(unsigned short& y, float x) { y = floatToBfloat(x); }
inline void asm_cvt_rn_f16x2_f32(unsigned& y, float high, float low) {
  y = unsigned{floatToHalf(high)} << 16 | floatToHalf(low);
}
inline void asm_cvt_rn_f16x2_f32(unsigned& y, float both) { asm_cvt_rn_f16x2_f32(y, both, both); }
inline void asm_cvt_rn_bf16x2_f32(unsigned& y, float high, float low) {
  y = unsigned{floatToBfloat(high)} << 16 | floatToBfloat(low);
}
inline void asm_mov_b32(unsigned short& low, unsigned short& high, unsigned x) {
  low = static_cast<unsigned short>(x), high = static_cast<unsigned short>(x >> 16);
}
/// Every E4M3 number is a half; of those with all bits but the sign set it is NaN.
inline void asm_cvt_rn_f16x2_e4m3x2(unsigned& y, unsigned short x) {
  auto half = [](unsigned byte) -> unsigned {
    unsigned sign = (byte & 128) << 8;
    if ((byte & 127) == 127)
      return 0x7FFF;
    return sign | floatToHalf(halfToFloat(static_cast<unsigned short>((byte & 127) << 7)) * 256);
  };
  y = half(x >> 8) << 16 | half(x & 255);
}
/// One rounding: sums of two halves are exact in double.
inline void asm_add_rn_f16x2(unsigned& y, unsigned a, unsigned b) {
  auto sum = [&](int shift) -> unsigned {
    auto x = static_cast<unsigned short>(a >> shift), z = static_cast<unsigned short>(b >> shift);
    double exact = double{halfToFloat(x)} + halfToFloat(z);
    return exact != exact ? 0x7FFFu : std::bit_cast<unsigned short>(static_cast<_Float16>(exact));
  };
  y = sum(16) << 16 | sum(0);
}
/// Double holds a product of halves exactly, and a sum with one up to 2^31 times as large.
inline void asm_fma_rn_f16x2(unsigned& y, unsigned a, unsigned b, unsigned c) {
  auto sum = [&](int shift) -> unsigned {
    auto at = [&](unsigned pair) -> double {
      return halfToFloat(static_cast<unsigned short>(pair >> shift));
    };
    double exact = at(a) * at(b) + at(c);
    return exact != exact ? 0x7FFFu : std::bit_cast<unsigned short>(static_cast<_Float16>(exact));
  };
  y = sum(16) << 16 | sum(0);
}
/// Of products with 1, which are exact; f32 holds sums of bfloats to more than twice their bits.
inline void asm_fma_rn_bf16x2(unsigned& y, unsigned a, unsigned b, unsigned c) {
  auto sum = [&](int shift) -> unsigned {
    auto at = [&](unsigned pair) {
      return bfloatToFloat(static_cast<unsigned short>(pair >> shift));
    };
    return floatToBfloat(at(a) * at(b) + at(c));
  };
  y = sum(16) << 16 | sum(0);
}
inline void asm_bar_sync(unsigned number, int threads) { emulatedGroupBarrier(number, threads); }
inline void asm_bar_arrive(unsigned number, int threads) { emulatedGroupArrive(number, threads); }
/// Bit `4 a + 2 b + c` of `table` for each bit of a, b and c.
inline void asm_lop3_b32(unsigned& y, unsigned a, unsigned b, unsigned c, int table) {
  y = 0;
  for (int row = 0; row < 8; ++row)
    if (table >> row & 1)
      y |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
}
inline void asm_max_NaN_f32(float& y, float a, float b) {
  y = a != a || b != b ? __uint_as_float(0x7FFFFFFF)
      : a == b         ? (signbit(a) ? b : a)
      : a > b          ? a
                       : b;
}
inline void asm_min_NaN_f32(float& y, float a, float b) {
  y = a != a || b != b ? __uint_as_float(0x7FFFFFFF)
      : a == b         ? (signbit(a) ? a : b)
      : a < b          ? a
                       : b;
}
inline void asm_ex2_approx_ftz_f32(float& y, float x) {
  y = exp2f(x);
  if (y < 0x1p-126f)
    y = 0;
}
inline void asm_rcp_approx_ftz_f32(float& y, float x) { y = 1.0f / x; }
inline void asm_createpolicy_fractional_L2__evict_first_b64(unsigned long long& policy) {
  policy = 0;
}

inline void asm_createpolicy_fractional_L2__evict_normal_b64(unsigned long long& policy) {
  policy = 0;
}

namespace emulated {

/// d += a · b of the warp: a 16 x 16 in rows, b 16 x 8 in columns, of 16-bit elements.
template <float (*widen)(unsigned short)>
void multiply(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned a2,
              unsigned a3, unsigned b0, unsigned b1) {
  struct Factors {
    unsigned a[4], b[2];
  };
  Lanes<Factors> all({{a0, a1, a2, a3}, {b0, b1}});
  int g = lane() / 4, t = lane() % 4;
  auto element = [](unsigned pair, int odd) {
    return widen(static_cast<unsigned short>(odd ? pair >> 16 : pair));
  };
  float* const sums[2][2] = {{&d0, &d1}, {&d2, &d3}};
  for (int half = 0; half < 2; ++half)
    for (int column = 0; column < 2; ++column) {
      double sum = 0;
      for (int k = 0; k < 16; ++k) {
        Factors row = all[4 * g + k % 8 / 2], other = all[4 * (2 * t + column) + k % 8 / 2];
        sum += static_cast<double>(element(row.a[k / 8 * 2 + half], k % 2)) *
               element(other.b[k / 8], k % 2);
      }
      *sums[half][column] += static_cast<float>(sum);
    }
}

/// The rows of four 8 x 8 matrices, whose addresses threads 8 i to 8 i + 7 give.
inline void loadMatrices(unsigned (&r)[4], unsigned address, bool transposed) {
  Lanes<unsigned> rows(address);
  int g = lane() / 4, t = lane() % 4;
  auto at = [&](int matrix, int row, int column) -> unsigned {
    unsigned handle = rows[8 * matrix + row];
    return static_cast<const unsigned short*>(emulatedPointer(handle))[column];
  };
  for (int i = 0; i < 4; ++i)
    r[i] = transposed ? at(i, 2 * t + 1, g) << 16 | at(i, 2 * t, g)
                      : at(i, g, 2 * t + 1) << 16 | at(i, g, 2 * t);
  Lanes<int>(0); // nobody overwrites what others still read
}

/// The same the other way.
struct Quarter {
  unsigned r[4];
};
inline void storeMatrices(Quarter own, unsigned address, bool transposed) {
  Lanes<unsigned> rows(address);
  int g = lane() / 4, t = lane() % 4;
  for (int i = 0; i < 4; ++i)
    for (int odd = 0; odd < 2; ++odd) {
      int row = transposed ? 2 * t + odd : g, column = transposed ? g : 2 * t + odd;
      static_cast<unsigned short*>(emulatedPointer(rows[8 * i + row]))[column] =
          static_cast<unsigned short>(own.r[i] >> 16 * odd);
    }
  Lanes<int>(0); // others read it after a barrier of the warp, or at once
}

} // namespace emulated

inline void asm_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(float& d0, float& d1, float& d2,
                                                                  float& d3, unsigned a0,
                                                                  unsigned a1, unsigned a2,
                                                                  unsigned a3, unsigned b0,
                                                                  unsigned b1) {
  emulated::multiply<halfToFloat>(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1);
}
inline void asm_mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(float& d0, float& d1, float& d2,
                                                                    float& d3, unsigned a0,
                                                                    unsigned a1, unsigned a2,
                                                                    unsigned a3, unsigned b0,
                                                                    unsigned b1) {
  emulated::multiply<bfloatToFloat>(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1);
}
/// Of sums that begin with `c`.
inline void asm_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(float& d0, float& d1, float& d2,
                                                                  float& d3, unsigned a0,
                                                                  unsigned a1, unsigned a2,
                                                                  unsigned a3, unsigned b0,
                                                                  unsigned b1, float c) {
  d0 = d1 = d2 = d3 = c;
  asm_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1);
}
inline void asm_mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(float& d0, float& d1, float& d2,
                                                                    float& d3, unsigned a0,
                                                                    unsigned a1, unsigned a2,
                                                                    unsigned a3, unsigned b0,
                                                                    unsigned b1, float c) {
  d0 = d1 = d2 = d3 = c;
  asm_mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1);
}
inline void asm_mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32(float& d0, float& d1, float& d2,
                                                                 float& d3, unsigned a0,
                                                                 unsigned a1, unsigned b) {
  emulated::multiply<halfToFloat>(d0, d1, d2, d3, a0, a1, 0, 0, b, 0);
}
inline void asm_mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32(float& d0, float& d1, float& d2,
                                                                   float& d3, unsigned a0,
                                                                   unsigned a1, unsigned b) {
  emulated::multiply<bfloatToFloat>(d0, d1, d2, d3, a0, a1, 0, 0, b, 0);
}
inline void asm_ldmatrix_sync_aligned_m8n8_x4_shared_b16(unsigned& r0, unsigned& r1, unsigned& r2,
                                                         unsigned& r3, unsigned address) {
  unsigned r[4];
  emulated::loadMatrices(r, address, false);
  r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];
}
inline void asm_ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(unsigned& r0, unsigned& r1,
                                                               unsigned& r2, unsigned& r3,
                                                               unsigned address) {
  unsigned r[4];
  emulated::loadMatrices(r, address, true);
  r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];
}
/// Stores four 8 x 8 matrices to rows whose addresses threads 8 i to 8 i + 7 give.
inline void asm_stmatrix_sync_aligned_m8n8_x4_shared_b16(unsigned address, unsigned r0, unsigned r1,
                                                         unsigned r2, unsigned r3) {
  emulated::storeMatrices({r0, r1, r2, r3}, address, false);
}
inline void asm_stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(unsigned address, unsigned r0,
                                                               unsigned r1, unsigned r2,
                                                               unsigned r3) {
  emulated::storeMatrices({r0, r1, r2, r3}, address, true);
}
inline void asm_movmatrix_sync_aligned_m8n8_trans_b16(unsigned& y, unsigned x) {
  emulated::Lanes<unsigned> all(x);
  int g = emulated::lane() / 4, t = emulated::lane() % 4;
  auto at = [&](int row, int column) {
    return all[4 * row + column / 2] >> column % 2 * 16 & 0xFFFF;
  };
  y = at(2 * t + 1, g) << 16 | at(2 * t, g);
}

inline void asm_ld_global_L2__256B_v4_u32(unsigned& x, unsigned& y, unsigned& z, unsigned& w,
                                          const void* source) {
  const auto* words = static_cast<const unsigned*>(source);
  x = words[0], y = words[1], z = words[2], w = words[3];
}
inline void asm_cp_async_cg_shared_global(unsigned target, const void* source, int bytes) {
  emulatedCopy(target, source, bytes);
}
inline void asm_cp_async_ca_shared_global_L2__256B(unsigned target, const void* source) {
  emulatedCopyWord(target, source);
}
inline void asm_cp_async_cg_shared_global_L2__cache_hint_L2__256B(unsigned target,
                                                                  const void* source, int bytes,
                                                                  unsigned long long) {
  emulatedCopy(target, source, bytes);
}
/// No instruction: what the compiler must not look through.
inline void asm_(unsigned&) {}
inline void asm_(float&) {}
inline void asm_cp_async_commit_group() { emulatedCommitCopies(); }
inline void asm_cp_async_wait_group(int pending) { emulatedWaitForCopies(pending); }

/// Waits for all threads of the warp, as all that is .sync.
inline void asm_elect_sync(unsigned& elected) {
  __syncwarp();
  elected = emulated::lane() == 0;
}

inline void asm_mbarrier_init_shared__cta_b64(unsigned barrier) { emulatedBarrierInit(barrier, 1); }
inline void asm_mbarrier_init_shared__cta_b64(unsigned barrier, unsigned count) {
  emulatedBarrierInit(barrier, count);
}
inline void asm_mbarrier_arrive_shared__cta_b64(unsigned barrier) {
  emulatedBarrierExpect(barrier, 0);
}
inline void asm_mbarrier_arrive_expect_tx_shared__cta_b64(unsigned barrier, unsigned bytes) {
  emulatedBarrierExpect(barrier, bytes);
}
/// A thread's copies are complete where it arrives.
inline void asm_cp_async_mbarrier_arrive_noinc_shared_b64(unsigned barrier) {
  emulatedCommitCopies();
  emulatedWaitForCopies(0);
  asm_mbarrier_arrive_shared__cta_b64(barrier);
}
inline void asm_cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes_L2__cache_hint(
    unsigned target, const void* source, unsigned bytes, unsigned barrier, unsigned long long) {
  emulatedBulkCopy(target, source, bytes, barrier);
}
inline void asm_mbarrier_try_wait_parity_shared__cta_b64(unsigned barrier, unsigned parity) {
  emulatedBarrierWait(barrier, parity);
}
inline void asm_mbarrier_try_wait_parity_acquire_cluster_shared__cta_b64(unsigned barrier,
                                                                         unsigned parity) {
  emulatedBarrierWait(barrier, parity);
}
inline void asm_fence_mbarrier_init_release_cluster() {}
inline void asm_fence_proxy_async_shared__cta() {}
inline void asm_setmaxnreg_inc_sync_aligned_u32(int) {}
inline void asm_setmaxnreg_dec_sync_aligned_u32(int) {}
/// The timer: nothing else is moved.
inline void asm_mov_u64(unsigned long long& y) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  y = now.tv_sec * 1000000000ull + now.tv_nsec;
}
inline void asm_griddepcontrol_wait() {}
inline void asm_griddepcontrol_launch_dependents() {}
inline void asm_barrier_cluster_arrive_release_aligned() { emulatedClusterArrive(); }
inline void asm_barrier_cluster_arrive_relaxed_aligned() { emulatedClusterArrive(); }
inline void asm_barrier_cluster_wait_acquire_aligned() { emulatedClusterWait(); }
inline void asm_barrier_cluster_wait_aligned() { emulatedClusterWait(); }
/// The rank of the block in its cluster: no other 32 bits are moved.
inline void asm_mov_u32(unsigned& rank) { rank = emulatedRank(); }
inline void asm_mapa_shared__cluster_u32(unsigned& y, unsigned address, unsigned rank) {
  y = emulatedMap(address, rank);
}
/// The first instruction of an arrival at another block's barrier.
inline void asm_mapa_shared__cluster_u32(unsigned barrier, unsigned rank) {
  emulatedBarrierExpect(emulatedMap(barrier, rank), 0);
}

inline void asm_prefetch_tensormap(const void*) {}
inline void
asm_cp_async_bulk_tensor_2d_shared__cluster_global_mbarrier__complete_tx__bytes_L2__cache_hint(
    unsigned target, const void* map, int column, int row, unsigned barrier, unsigned long long) {
  emulatedBringBox(target, map, column, row, barrier, 0);
}
inline void
asm_cp_async_bulk_tensor_2d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster_L2__cache_hint(
    unsigned target, const void* map, int column, int row, unsigned barrier, unsigned long long,
    unsigned short blocks) {
  emulatedBringBox(target, map, column, row, barrier, blocks);
}
/// Commits, too.
inline void asm_cp_async_bulk_tensor_2d_global_shared__cta_bulk_group(const void* map, int column,
                                                                      int row, unsigned source) {
  emulatedSendBox(map, column, row, source);
}
inline void asm_cp_async_bulk_wait_group_read(int pending) { emulatedWaitForBoxes(pending); }
inline void asm_cp_async_bulk_wait_group(int pending) { emulatedWaitForBoxes(pending); }

inline void asm_wgmma_fence_sync_aligned() {}
inline void asm_wgmma_commit_group_sync_aligned() { emulatedCommitWgmmas(); }
inline void asm_wgmma_wait_group_sync_aligned(int pending) { emulatedWaitForWgmmas(pending); }

namespace emulated {

/// What follows the first of a product's sums: the others, which lie after it, and the factors.
template <int columns, float (*widen)(unsigned short), typename... Rest>
void issueWgmma(float& first, Rest... rest) {
  constexpr int sums = columns / 2 - 1, factors = sizeof...(Rest) - sums;
  static_assert(factors == 3 || factors == 5 || factors == 6);
  const unsigned long long operands[] = {std::bit_cast<unsigned>(first), // so that none is empty
                                         [](auto value) -> unsigned long long {
                                           if constexpr (std::is_integral_v<decltype(value)>)
                                             return value;
                                           return 0;
                                         }(rest)...};
  const unsigned long long* given = operands + 1 + sums;
  if constexpr (factors == 3) {
    emulatedIssueWgmma(&first, columns, nullptr, given[0], given[1], static_cast<int>(given[2]),
                       /*alongRows=*/true, widen);
  } else {
    const unsigned a[] = {static_cast<unsigned>(given[0]), static_cast<unsigned>(given[1]),
                          static_cast<unsigned>(given[2]), static_cast<unsigned>(given[3])};
    constexpr bool alongRows = factors == 6;
    emulatedIssueWgmma(&first, columns, a, 0, given[4],
                       alongRows ? static_cast<int>(given[factors - 1]) : 1, alongRows, widen);
  }
}

} // namespace emulated

#define EMULATED_PRODUCTS(columns)                                                                 \
  template <typename... Rest>                                                                      \
  void asm_wgmma_mma_async_sync_aligned_m64n##columns##k16_f32_f16_f16(float& first,               \
                                                                       Rest... rest) {             \
    emulated::issueWgmma<columns, halfToFloat>(first, rest...);                                    \
  }                                                                                                \
  template <typename... Rest>                                                                      \
  void asm_wgmma_mma_async_sync_aligned_m64n##columns##k16_f32_bf16_bf16(float& first,             \
                                                                         Rest... rest) {           \
    emulated::issueWgmma<columns, bfloatToFloat>(first, rest...);                                  \
  }
EMULATED_PRODUCTS(16)
EMULATED_PRODUCTS(32)
EMULATED_PRODUCTS(48)
EMULATED_PRODUCTS(64)
EMULATED_PRODUCTS(80)
EMULATED_PRODUCTS(96)
EMULATED_PRODUCTS(112)
EMULATED_PRODUCTS(128)
EMULATED_PRODUCTS(144)
EMULATED_PRODUCTS(160)
EMULATED_PRODUCTS(176)
EMULATED_PRODUCTS(192)
EMULATED_PRODUCTS(208)
EMULATED_PRODUCTS(224)
EMULATED_PRODUCTS(240)
EMULATED_PRODUCTS(256)
#undef EMULATED_PRODUCTS
inline void asm_st_async_shared__cluster_mbarrier__complete_tx__bytes_v4_f32(unsigned target,
                                                                             float x, float y,
                                                                             float z, float w,
                                                                             unsigned barrier) {
  float values[] = {x, y, z, w};
  emulatedStoreAsync(target, values, sizeof(values), barrier);
}
inline void asm_st_async_shared__cluster_mbarrier__complete_tx__bytes_v2_f32(unsigned target,
                                                                             float x, float y,
                                                                             unsigned barrier) {
  float values[] = {x, y};
  emulatedStoreAsync(target, values, sizeof(values), barrier);
}

namespace emulated {

template <auto kernel> struct Described;
template <typename... A, void (*kernel)(A...)> struct Described<kernel> {
  static constexpr size_t bytes[] = {sizeof(A)...};
  static void invoke(void** arguments) { call(arguments, std::index_sequence_for<A...>()); }
  template <size_t... i> static void call(void** arguments, std::index_sequence<i...>) {
    kernel(*static_cast<A*>(arguments[i])...);
  }
};

template <auto kernel> constexpr EmulatedKernel describe(unsigned threads, unsigned cluster) {
  using D = Described<kernel>;
  return {threads, cluster, sizeof(D::bytes) / sizeof(size_t), D::bytes, &D::invoke};
}

/// A variable in static shared memory; `Key` is a type that only this one has.
template <typename T, typename Key> T& sharedVariable() {
  static const char key = 0;
  return *static_cast<T*>(emulatedStatic(&key, sizeof(T)));
}

} // namespace emulated
