// y = x * W^T for up to 16 rows of x on tensor cores: what a warp does with its part of the depth.
#pragma once
#include "mma.cuh"
#include "reduce.cuh"

namespace tenon {

/// Where a warp stands in its stream of pieces: tile, product of the tile, place in the depth.
template <typename T> struct NarrowCursor {
  int tile, gemm;
  int k, depth;  // the warp's next piece, and where the rows end
  const T* rows; // of W in the tile
  int last;      // of them

  /// Moves to the rows [first, end) of W [..., depth], a tile.
  __device__ __forceinline__ void seek(const T* weight, int first, int end, int length) {
    k = static_cast<int>(threadIdx.x) / 32 * 64, depth = length;
    rows = weight + static_cast<long long>(first) * length;
    last = end - 1 - first;
  }
};

/// The pieces of W that one of `warps` warps multiplies, in order, `stages` of them on their way or
/// waiting in shared memory: 64 elements of 16 rows each. The warps of a block take neighbouring
/// pieces in turn, so that together they read long runs of each row. Eight lanes copy the 128 bytes
/// of a row in one request: two of 64 each, which a thread that copied what it multiplies itself
/// would make, cost a tenth of the rate (H200, 2026-11-21, 128256 x 2048, 4 rows: 131.9 and 119.1
/// µs). Blocks take tiles in turn; of each, `joined` products one after the other. `Seek` moves a
/// cursor to the rows of its tile and product.
template <typename T, int warps, int joined, int stages, typename Seek> struct NarrowStream {
  static constexpr int step = 64 * warps; // from one of the warp's pieces to the next

  uint4* slots; // of this warp: [stages][2 k / 64][2 row / 8][4 row % 8 + k % 32 / 8]
  int tiles, workers;
  Seek seek;
  NarrowCursor<T> ahead;
  int stage = 0;
  unsigned long long policy = evictFirst();

  __device__ __forceinline__ NarrowStream(void* shared, int firstTile, int tiles, int workers,
                                          Seek seek)
      : slots(static_cast<uint4*>(shared) + threadIdx.x / 32 * (stages * 4 * 32)), tiles(tiles),
        workers(workers), seek(seek) {
    ahead.tile = firstTile, ahead.gemm = 0;
    find();
    for (int i = 0; i < stages; ++i)
      release();
  }

  /// Moves on to the next product of which this warp has a piece, if it does not stand in one.
  __device__ __forceinline__ void find() {
    while (ahead.tile < tiles) {
      seek(ahead);
      if (ahead.k < ahead.depth)
        return;
      nextGemm();
    }
  }
  __device__ __forceinline__ void nextGemm() {
    if (++ahead.gemm == joined) {
      ahead.gemm = 0;
      ahead.tile += workers;
    }
  }

  /// Starts the copy of the next piece into the present stage, with zeros after the end of the
  /// depth; rows that the tile does not have keep what was there, which reaches no sum but their
  /// own. To copy the last one in their place took the multiprocessors' way to the L2 cache: 2560 x
  /// 12,800 in tiles of 10 rows, 4 rows of x, 19.2 µs where it takes 17.6 (H200, 2026-11-22). All
  /// threads of the warp must be done with the stage.
  __device__ __forceinline__ void release() {
    if (ahead.tile < tiles) {
      const int lane = threadIdx.x % 32, own = ahead.k + lane % 8 * 8;
      const bool exists = own < ahead.depth;
      const T* source = ahead.rows + (exists ? own : 0);
      uint4* slot = slots + stage * (4 * 32) + lane % 8 / 4 * (2 * 32) + lane % 4;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = 4 * i + lane / 8;
        if (row <= ahead.last)
          copyRun(slot + row / 8 * 32 + row % 8 * 4, source + row * ahead.depth, exists, policy);
      }
      ahead.k += step;
      if (ahead.k >= ahead.depth) {
        nextGemm();
        find();
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

  /// Adds the warp's pieces of 16 rows of W times `rows` rows of x, `pitch` apart. sums[i] holds W
  /// rows g, g, g + 8, g + 8 and x rows 8 i + 2 t, + 1, + 0, + 1. x of the next pieces is on its
  /// way while the present one is multiplied.
  template <int rowTiles>
  __device__ __forceinline__ void multiply(float (&sums)[rowTiles][4], const T* x, int rows,
                                           int pitch, int depth) {
    constexpr int early = 4 / rowTiles;
    uint4 v[early][2][rowTiles];
    const int first = firstPiece();
#pragma unroll
    for (int e = 0; e < early; ++e)
      loadPiece(v[e], x, rows, pitch, first + e * step, depth);
#pragma unroll 1
    for (int k = first; k < depth; k += early * step) {
#pragma unroll
      for (int e = 0; e < early; ++e) {
        if (k + e * step >= depth)
          break;
        multiplyPiece(sums, v[e],
                      [&] { loadPiece(v[e], x, rows, pitch, k + (early + e) * step, depth); });
      }
    }
  }
  /// The same where the warp holds its pieces of x (loadPieces).
  template <int pieces, int rowTiles>
  __device__ __forceinline__ void multiply(float (&sums)[rowTiles][4],
                                           const uint4 (&x)[pieces][2][rowTiles], int depth) {
#pragma unroll
    for (int i = 0; i < pieces; ++i)
      if (firstPiece() + i * step < depth)
        multiplyPiece(sums, x[i], [] {});
  }
  /// The pieces of x that the warp multiplies, [rows, depth], rows `pitch` apart.
  template <int pieces, int rowTiles>
  __device__ __forceinline__ void loadPieces(uint4 (&target)[pieces][2][rowTiles], const T* x,
                                             int rows, int pitch, int depth) {
#pragma unroll
    for (int i = 0; i < pieces; ++i)
      loadPiece(target[i], x, rows, pitch, firstPiece() + i * step, depth);
  }

private:
  static __device__ __forceinline__ int firstPiece() {
    return static_cast<int>(threadIdx.x) / 32 * 64;
  }

  /// Elements k ... k + 63 of x, with zeros after its rows and their ends. They are permuted as
  /// those of W are, so that a thread has 16 bytes of each at a time.
  template <int rowTiles>
  __device__ __forceinline__ void loadPiece(uint4 (&target)[2][rowTiles], const T* x, int rows,
                                            int pitch, int k, int depth) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
        const int row = 8 * i + static_cast<int>(threadIdx.x) % 32 / 4;
        const int own = k + 32 * half + threadIdx.x % 4 * 8;
        target[half][i] = row < rows && own < depth
                              ? *reinterpret_cast<const uint4*>(x + row * pitch + own)
                              : uint4{0, 0, 0, 0};
      }
  }

  /// Adds the next piece; calls `used` when x is needed no more.
  template <int rowTiles, typename Used>
  __device__ __forceinline__ void multiplyPiece(float (&sums)[rowTiles][4],
                                                const uint4 (&x)[2][rowTiles], Used used) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    __syncwarp();
    const uint4* slot = slots + stage * (4 * 32) + threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint4 a = slot[(2 * half) * 32], b = slot[(2 * half + 1) * 32];
#pragma unroll
      for (int i = 0; i < rowTiles; ++i) {
        const uint4 c = x[half][i];
        multiplyAdd<T>(sums[i], {a.x, b.x, a.y, b.y}, {c.x, c.y});
        multiplyAdd<T>(sums[i], {a.z, b.z, a.w, b.w}, {c.z, c.w});
      }
    }
    used();
    __syncwarp();
    release();
  }
};

/// Where the sum of W row `column` and x row `m` of warp `warp`'s part lies in shared memory; rows
/// stand 20 apart, so that the threads that store sums together meet no bank twice.
template <int rowTiles> __device__ __forceinline__ int partPlace(int warp, int m, int column) {
  return (warp * 8 * rowTiles + m) * 20 + column;
}

template <int rowTiles>
__device__ __forceinline__ void storeParts(float* parts, const float (&sums)[rowTiles][4]) {
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < rowTiles; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      parts[partPlace<rowTiles>(warp, 8 * i + 2 * t + j % 2, g + j / 2 * 8)] = sums[i][j];
}

/// The parts of `warps` warps in ascending order.
template <int rowTiles, int warps>
__device__ __forceinline__ float sumParts(const float* parts, int m, int column) {
  float sum = parts[partPlace<rowTiles>(0, m, column)];
#pragma unroll
  for (int warp = 1; warp < warps; ++warp)
    sum += parts[partPlace<rowTiles>(warp, m, column)];
  return sum;
}

/// Sum of `term(x)` over elements [begin, end) of a row, multiples of 8, by one warp, in `lanes`
/// lanes that combine by halving; `lanes` a multiple of 256. Every thread gets the sum.
template <int lanes, typename T, typename Term>
__device__ __forceinline__ float sumLanes(const T* row, int begin, int end, Term term) {
  constexpr int vectors = lanes / 256;
  float sums[vectors][8] = {};
  for (int first = begin + threadIdx.x % 32 * 8; first < end; first += lanes)
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (first + 256 * v < end) {
        float x[8];
        loadVector(x, row + first + 256 * v);
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sums[v][j] += term(x[j]);
      }
#pragma unroll
  for (int half = vectors / 2; half >= 1; half /= 2)
#pragma unroll
    for (int v = 0; v < half; ++v)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        sums[v][j] += sums[v + half][j];
  return combineWarpLanes(sums[0]);
}

/// Sum of `term(x)` over a row of `length` elements, a multiple of 8, by one warp, in the order
/// #tenon.order of such lanes and chunks (0: one chunk). Every thread gets the sum.
template <int lanes, int chunk, typename T, typename Term>
__device__ __forceinline__ float sumRow(const T* row, int length, Term term) {
  if (chunk == 0)
    return sumLanes<lanes>(row, 0, length, term);
  float sum = 0.0f;
#pragma unroll 4
  for (int first = 0; first < length; first += chunk) {
    const float part = sumLanes<lanes>(row, first, min(length, first + chunk), term);
    sum = first == 0 ? part : sum + part;
  }
  return sum;
}

} // namespace tenon
