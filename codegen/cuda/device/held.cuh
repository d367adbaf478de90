// y = x * W^T for up to 16 rows of x on tensor cores, sm_90 and later, where the warps of a block
// hold all of x in registers, 256 elements of each row a warp: what a warp does with its part of
// the depth.
#pragma once
#include "bulk.cuh"
#include "mma.cuh"
#include "reduce.cuh"

namespace tenon {

/// A ring of `stages` pieces of 8 rows of W of 128 elements, of one warp. Rows stand 64 bytes off a
/// multiple of 128, so that its threads' loads meet no bank twice.
template <typename T, int stages> struct HeldRing {
  static constexpr int pitch = 128 + 32; ///< elements
  static constexpr int stageBytes = 8 * pitch * sizeof(T), bytes = stages * stageBytes + 128;

  T* pieces;
  BulkBarrier* barriers;
  int stage = 0; ///< of the next piece
  unsigned parity = 0;
  unsigned long long policy = evictFirst();

  /// `shared`: `bytes` of the warp's own, aligned to 128.
  __device__ __forceinline__ explicit HeldRing(unsigned char* shared)
      : pieces(reinterpret_cast<T*>(shared)),
        barriers(reinterpret_cast<BulkBarrier*>(shared + stages * stageBytes)) {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int i = 0; i < stages; ++i)
        barriers[i].init();
      fenceBarriers();
    }
    __syncwarp();
  }

  /// Starts the copy of `rows` rows of `count` elements, a multiple of 8, `depth` apart. Each row's
  /// thread asks for it: by one thread for all, gate and up of llama-3.1-8b bf16 with 16 rows took
  /// 60.9 µs where narrow_gemm took 62.6 in the same run, like this 58.0 where it took 63.3 (H200,
  /// 2026-11-21).
  __device__ __forceinline__ void fill(int target, const T* source, int depth, int rows,
                                       int count) {
    const int row = threadIdx.x % 32;
    const unsigned rowBytes = count * sizeof(T);
    if (row == 0)
      barriers[target].expect(rows * rowBytes);
    __syncwarp();
    if (row < rows)
      barriers[target].bring(pieces + (target * 8 + row) * pitch, source + row * depth, rowBytes,
                             policy);
  }
  /// Waits for the next piece.
  __device__ __forceinline__ const T* wait() {
    barriers[stage].wait(parity);
    return pieces + stage * 8 * pitch;
  }
  /// Moves on; the stage has been filled again.
  __device__ __forceinline__ void advance() {
    if (++stage == stages)
      stage = 0, parity ^= 1;
  }
};

/// Where a warp stands in its stream of pieces: of each tile of rows of W, of each product of it,
/// of each run of 8 rows, the pieces of its slice of 256 elements.
template <typename T, int depth> struct HeldCursor {
  int tile, gemm = 0; // of the block's tiles; of the products of a tile
  int part, unit;     // piece of the slice; run of 8 rows
  int count;          // rows of W in the tile
  const T* rows;      // of them, at the warp's slice

  static __device__ __forceinline__ int slice() { return static_cast<int>(threadIdx.x) / 32 * 256; }

  /// Moves to the rows [first, end) of W [..., depth], a tile.
  __device__ __forceinline__ void seek(const T* weight, int first, int end) {
    part = unit = 0, count = end - first;
    rows = weight + static_cast<long long>(first) * depth + slice();
  }
  /// Moves on in the tile's product; false after its end.
  __device__ __forceinline__ bool next() {
    if (++part < 2 && slice() + 128 * part < depth)
      return true;
    part = 0;
    return ++unit * 8 < count;
  }
};

/// The pieces of W that a warp multiplies, in order, `stages` of them on their way or waiting in
/// shared memory. Blocks take tiles in turn; of each, `joined` products one after the other. `Seek`
/// moves a cursor to the rows of its tile and product.
template <typename T, int depth, int joined, int stages, typename Seek> struct HeldStream {
  using Ring = HeldRing<T, stages>;

  Ring ring;
  int tiles, workers;
  Seek seek;
  HeldCursor<T, depth> ahead;

  __device__ __forceinline__ HeldStream(unsigned char* shared, int firstTile, int tiles,
                                        int workers, Seek seek)
      : ring(shared + threadIdx.x / 32 * Ring::bytes), tiles(tiles), workers(workers), seek(seek) {
    ahead.tile = firstTile;
    if (firstTile < tiles)
      seek(ahead);
    for (int stage = 0; stage < stages; ++stage)
      fill(stage);
  }

  /// Adds `count` rows of W of the tile times `x` to a sum of each run of 8: sums[0, 1] of row g of
  /// x and rows 2 t, 2 t + 1 of W, sums[2, 3] of row g + 8.
  template <int rowTiles, int units>
  __device__ __forceinline__ void multiply(float (&sums)[units][4], const uint4 (&x)[8][rowTiles],
                                           int count) {
#pragma unroll
    for (int unit = 0; unit < units; ++unit)
      if (8 * unit < count)
#pragma unroll
        for (int part = 0; part < 2; ++part)
          if (depth % 256 == 0 || ahead.slice() + 128 * part < depth)
            multiplyPiece(sums[unit], &x[4 * part], 128 * part);
  }

private:
  /// Starts the copy of the next piece into `stage`; all threads of the warp must be done with it.
  __device__ __forceinline__ void fill(int stage) {
    if (ahead.tile >= tiles)
      return;
    const int k = 128 * ahead.part, first = 8 * ahead.unit;
    const int left = depth % 128 == 0 ? 128 : min(128, depth - ahead.slice() - k);
    ring.fill(stage, ahead.rows + static_cast<long long>(first) * depth + k, depth,
              min(8, ahead.count - first), left);
    if (ahead.next())
      return;
    if (++ahead.gemm == joined) {
      ahead.gemm = 0;
      ahead.tile += workers;
    }
    if (ahead.tile < tiles)
      seek(ahead);
  }

  /// Adds the next piece, elements k ... of the warp's slice. A thread has 8 neighbouring elements
  /// of each factor at a time: the depth is permuted alike in both.
  template <int rowTiles>
  __device__ __forceinline__ void multiplyPiece(float (&sums)[4], const uint4 (*x)[rowTiles],
                                                int k) {
    const int g = threadIdx.x % 32 / 4, own = threadIdx.x % 4 * 8;
    const T* row = ring.wait() + g * Ring::pitch + own;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      uint4 w = {0, 0, 0, 0}; // after the end there is no number
      if (depth % 128 == 0 || ahead.slice() + k + 32 * j + own < depth)
        w = *reinterpret_cast<const uint4*>(row + 32 * j);
      const uint4 a = x[j][0], b = rowTiles == 2 ? x[j][rowTiles - 1] : uint4{0, 0, 0, 0};
      multiplyAdd<T>(sums, {a.x, b.x, a.y, b.y}, {w.x, w.y});
      multiplyAdd<T>(sums, {a.z, b.z, a.w, b.w}, {w.z, w.w});
    }
    __syncwarp();
    fill(ring.stage);
    ring.advance();
  }
};

/// The warp's slice of rows g and, of two tiles, g + 8 of `x` [rows, depth], 8 t ... of each 32
/// elements; zeros after the end; rows after the last one repeat it.
template <int depth, typename T, int rowTiles>
__device__ __forceinline__ void loadHeld(uint4 (&values)[8][rowTiles], const T* x, int rows) {
  const int g = threadIdx.x % 32 / 4, first = threadIdx.x / 32 * 256 + threadIdx.x % 4 * 8;
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int i = 0; i < rowTiles; ++i) {
      const T* row = x + min(8 * i + g, rows - 1) * depth + first;
      values[j][i] = first + 32 * j < depth ? *reinterpret_cast<const uint4*>(row + 32 * j)
                                            : uint4{0, 0, 0, 0};
    }
}

/// A warp's sums of `units` runs of 8 rows of W: [unit][row of x][row of W].
template <int rowTiles, int units>
__device__ __forceinline__ void storeHeldSums(float* parts, const float (&sums)[units][4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int unit = 0; unit < units; ++unit)
#pragma unroll
    for (int i = 0; i < rowTiles; ++i)
      *reinterpret_cast<float2*>(parts + ((unit * rowTiles + i) * 8 + g) * 8 + 2 * t) =
          float2{sums[unit][2 * i], sums[unit][2 * i + 1]};
}

/// The sum at `place` of `warps` warps, `pitch` floats apart, in ascending order.
template <int warps> __device__ __forceinline__ float addHeldSums(const float* place, int pitch) {
  float sum = place[0];
#pragma unroll
  for (int warp = 1; warp < warps; ++warp)
    sum += place[warp * pitch];
  return sum;
}

/// What thread `source` of the warp has.
template <typename T>
__device__ __forceinline__ Packed<8, T> shufflePacked(const Packed<8, T>& own, int source) {
  Packed<8, T> packed;
#pragma unroll
  for (int i = 0; i < int(2 * sizeof(T)); ++i)
    packed.pairs[i] = __shfl_sync(0xFFFFFFFFu, own.pairs[i], source);
  return packed;
}

/// Halves 256 lanes, of which thread t of four holds 8 t + e + 32 j, those of all j added: lanes
/// 16, 8, 4, 2 and 1 apart. All four get the sum.
__device__ __forceinline__ float combineQuad(const float (&sums)[8]) {
  constexpr unsigned all = 0xFFFFFFFFu;
  float four[4], two[2];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const bool upper = threadIdx.x & 2;
    four[e] =
        (upper ? sums[e + 4] : sums[e]) + __shfl_xor_sync(all, upper ? sums[e] : sums[e + 4], 2);
  }
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const bool upper = threadIdx.x & 1;
    two[e] =
        (upper ? four[e + 2] : four[e]) + __shfl_xor_sync(all, upper ? four[e] : four[e + 2], 1);
  }
#pragma unroll
  for (int e = 0; e < 2; ++e)
    two[e] += __shfl_xor_sync(all, two[e], 2);
#pragma unroll
  for (int e = 0; e < 2; ++e)
    two[e] += __shfl_xor_sync(all, two[e], 1);
  return two[0] + two[1];
}

/// Sums of `term(x, i)` over rows of `depth` elements of which each of `warps` warps holds 256 in
/// `x`, of rows g and g + 8: chunks of 256 lanes, combined by halving, added in ascending order
/// (#tenon.order). `shared` holds 8 rowTiles times 16 floats and may serve again after a barrier.
template <typename T, int warps, int rowTiles, typename Term>
__device__ __forceinline__ void sumHeldRows(float (&sums)[rowTiles], const uint4 (&x)[8][rowTiles],
                                            int depth, float* shared, Term term) {
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int first = warp * 256 + t * 8;
#pragma unroll
  for (int i = 0; i < rowTiles; ++i) {
    float lanes[8];
#pragma unroll
    for (int e = 0; e < 8; e += 2) {
      float terms[8][2];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        Packed<2, T> pair;
        pair.pairs[0] = e == 0 ? x[j][i].x : e == 2 ? x[j][i].y : e == 4 ? x[j][i].z : x[j][i].w;
        // What is widened here is not kept for later: there are no registers for it.
        asm volatile("" : "+r"(pair.pairs[0]));
        float values[2];
        widen(values, pair);
        const bool exists = first + 32 * j < depth;
        terms[j][0] = exists ? 0.0f + term(values[0], i) : 0.0f;
        terms[j][1] = exists ? 0.0f + term(values[1], i) : 0.0f;
      }
#pragma unroll
      for (int half = 4; half >= 1; half /= 2)
#pragma unroll
        for (int j = 0; j < half; ++j)
          terms[j][0] += terms[j + half][0], terms[j][1] += terms[j + half][1];
      lanes[e] = terms[0][0], lanes[e + 1] = terms[0][1];
    }
    const float chunk = combineQuad(lanes);
    if (t == 0)
      shared[(8 * i + g) * 16 + warp] = chunk;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rowTiles; ++i)
    sums[i] = addChunks<warps>(shared + (8 * i + g) * 16);
}

} // namespace tenon
