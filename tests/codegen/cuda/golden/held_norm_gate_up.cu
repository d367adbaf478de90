#include "held.cuh"
using namespace tenon;
__device__ __forceinline__ void held_gemm_tile(const long long tile, const F16* a0, const F16* a1, const F16* a2, const F16* a3, F16* r0) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  // load: reads a2 (global), a3 (global); writes stream (shared)
  extern __shared__ __align__(128) unsigned char memory[];
  const int workers = gridDim.x;
  auto seek = [&](HeldCursor<F16, 4096>& cursor) {
    const int index = cursor.tile;
    if (cursor.gemm == 0)
      return cursor.seek(a2, (index - 0) * 8, min((index - 0 + 1) * 8, 14336));
    return cursor.seek(a3, (index - 0) * 8, min((index - 0 + 1) * 8, 14336));
  };
  HeldStream<F16, 4096, 2, 4, decltype(seek)> stream(memory, static_cast<int>(tile), 1792, workers, seek);
  // load: reads a1 (global); writes norm_a1 (registers)
  Packed<8, F16> norm_a1 = {};
  if (static_cast<int>(threadIdx.x) * 8 < 4096)
    norm_a1 = loadPacked<8>(a1 + threadIdx.x * 8);
  // prologue: reads a0 (global), a1 (global), a2 (global), a3 (global); writes held (registers)
  uint4 held[8][2];
  loadHeld<4096>(held, a0, 16);
  float* statistics = reinterpret_cast<float*>(memory + 182272);
  float sums[2];
  sumHeldRows<F16, 16>(sums, held, 4096, statistics + 0,
      [&](float x, [[maybe_unused]] int i) { return x * x; });
  float factors[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float squares = sums[i];
    const float factor = rsqrtf(squares * 0.000244140625f + 9.99999975e-06f);
    factors[i] = factor;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float operand0[8];
    widen(operand0, shufflePacked(norm_a1, 4 * j + threadIdx.x % 4));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      Packed<8, F16> packed;
      packed.words[0] = held[j][i];
      float x[8], y[8];
      widen(x, packed);
      const float factor = factors[i];
#pragma unroll
      for (int e = 0; e < 8; ++e)
        y[e] = x[e] * factor * operand0[e];
      held[j][i] = pack<F16>(y).words[0];
    }
  }
  // store: reads a0 (global), a1 (global), a2 (global), a3 (global), stream (shared); writes r0 (global)
  float* parts = reinterpret_cast<float*>(memory + 165888);
  for (int index = static_cast<int>(tile); index < 1792; index += workers) {
    float sums[2][1][4] = {};
    const int count = min(8, 14336 - (index - 0) * 8);
#pragma unroll
    for (int gemm = 0; gemm < 2; ++gemm)
      stream.multiply(sums[gemm], held, count);
    __syncthreads();
#pragma unroll
    for (int gemm = 0; gemm < 2; ++gemm)
      storeHeldSums<2>(parts + (threadIdx.x / 32 * 2 + gemm) * 128, sums[gemm]);
    __syncthreads();
    for (int place = threadIdx.x; place < 128; place += 512) {
      const int m = place / 8 % 16, inTile = place / 128 * 8 + place % 8;
      const int column = (index - 0) * 8 + inTile;
      if (inTile < 8 && column < 14336) {
        const float result0[1] = {roundTo<F16>(addHeldSums<16>(parts + place + 0, 256))};
        const float result1[1] = {roundTo<F16>(addHeldSums<16>(parts + place + 128, 256))};
        float v0[1];
#pragma unroll
        for (int j = 0; j < 1; ++j) {
          const float v0_0 = -result0[j];
          const float v0_1 = expf(v0_0);
          const float v0_2 = 1.0f + v0_1;
          const float v0_3 = __fdividef(result0[j], v0_2);
          const float v0_4 = v0_3 * result1[j];
          v0[j] = roundTo<F16>(v0_4);
        }
        storeVector(r0 + (static_cast<long long>(m)) * 14336 + column, v0);
      }
    }
  }
}
extern "C" __global__ void __launch_bounds__(512) held_gemm(const F16* a0, const F16* a1, const F16* a2, const F16* a3, F16* r0) {
  asm volatile("griddepcontrol.launch_dependents;");
  held_gemm_tile(blockIdx.x, a0, a1, a2, a3, r0);
}
