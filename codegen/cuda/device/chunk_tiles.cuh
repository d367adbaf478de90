// The tiles of attention's rows where these say themselves, at run time, which are of one sequence.
#pragma once
#include "bulk.cuh"

namespace tenon {

/// The number of this block's tile of a round: back and forth, so that blocks with the longer tiles
/// of a round have the shorter ones of the next.
__device__ __forceinline__ int tileOfRound(int round) {
  const int blocks = gridDim.x, block = blockIdx.x;
  return round * blocks + (round % 2 == 0 ? block : blocks - 1 - block);
}

/// Whether a row is the last one of its chunk: rows beside each other, of one sequence at positions
/// that follow each other, or all idle.
__device__ __forceinline__ bool endsChunk(int row, int rows, const int* sequenceOf,
                                          const int* positionOf) {
  if (row == rows - 1 || sequenceOf[row] != sequenceOf[row + 1])
    return true;
  const int position = positionOf[row], next = positionOf[row + 1];
  return next < 0 ? position >= 0 : position < 0 || position != next - 1;
}

/// The tiles of a block of `rounds` tiles at most; without any where rows of a sequence are known
/// to the compiler. In shared memory.
template <int rounds> struct TileList {
  int lastRows[rounds]; ///< of the block's tile of each round
  int tiles;            ///< of all blocks
  int firstRows[2];     ///< by stage of queries: of the tile's, of which `positions` are the most
  int ofWarps[32];      ///< what threads before know

  /// `combine` of the values of the threads before this one, from `none` on, and of all threads'.
  template <int threads, typename Combine>
  __device__ __forceinline__ int2 scan(int value, int none, Combine combine) {
    const int lane = threadIdx.x % 32, warp = warpOfBlock();
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_sync(0xFFFFFFFFu, value, max(lane - offset, 0));
      value = lane >= offset ? combine(value, other) : value;
    }
    if (lane == 31)
      ofWarps[warp] = value;
    __syncthreads();
    int before = none, all = none;
    for (int i = 0; i < threads / 32; ++i) {
      before = i == warp ? all : before;
      all = combine(all, ofWarps[i]);
    }
    const int ofLanes = __shfl_sync(0xFFFFFFFFu, value, max(lane - 1, 0));
    __syncthreads();
    return {lane > 0 ? combine(before, ofLanes) : before, all};
  }

  /// Finds the block's tiles, by all `threads`: each takes a run of the `rows`, the last rows
  /// first. From the last row of its chunk on, each `positions` rows are a tile, once for each of
  /// `tileHeads` groups of heads.
  template <int threads, int positions>
  __device__ __forceinline__ void find(int rows, int tileHeads, const int* sequenceOf,
                                       const int* positionOf) {
    const int runLength = (rows + threads - 1) / threads;
    const int begin = min(static_cast<int>(threadIdx.x) * runLength, rows);
    const int end = min(begin + runLength, rows);
    // Rows are counted from the last one on.
    auto endsAt = [&](int number) {
      return endsChunk(rows - 1 - number, rows, sequenceOf, positionOf);
    };
    int chunk = -1;
    for (int number = begin; number < end; ++number)
      chunk = endsAt(number) ? number : chunk;
    const int chunkBefore = scan<threads>(chunk, -1, [](int a, int b) { return max(a, b); }).x;
    auto forTiles = [&](auto&& body) {
      int last = chunkBefore;
      for (int number = begin; number < end; ++number) {
        last = endsAt(number) ? number : last;
        if ((number - last) % positions == 0)
          body(rows - 1 - number);
      }
    };
    int count = 0;
    forTiles([&](int) { ++count; });
    const int2 counts = scan<threads>(count, 0, [](int a, int b) { return a + b; });
    const int blocks = gridDim.x;
    int tile = counts.x * tileHeads;
    forTiles([&](int row) {
      for (int round = tile / blocks; round * blocks < tile + tileHeads; ++round)
        if (const int own = tileOfRound(round); own >= tile && own < tile + tileHeads)
          lastRows[round] = row;
      tile += tileHeads;
    });
    if (threadIdx.x == 0)
      tiles = counts.y * tileHeads;
    __syncthreads();
  }
};
template <> struct TileList<0> {};

/// The first row of the tile of at most `positions` rows whose last one is `last`. All threads of a
/// warp.
template <int positions>
__device__ __forceinline__ int firstRowOfTile(int last, const int* sequenceOf,
                                              const int* positionOf) {
  const int lane = threadIdx.x % 32, sequence = sequenceOf[last], position = positionOf[last];
  for (int base = 0; base < positions; base += 32) {
    const int back = base + lane, row = last - back;
    const bool belongs = back < positions && row >= 0 && sequenceOf[row] == sequence &&
                         (position < 0 ? positionOf[row] < 0
                                       : position >= back && positionOf[row] == position - back);
    const int count = __reduce_min_sync(0xFFFFFFFFu, belongs ? 32 : lane);
    if (count < 32)
      return last + 1 - base - count;
  }
  return last + 1 - positions;
}

} // namespace tenon
