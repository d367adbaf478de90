// Copies of hopper_attention: a warp of a block finds which keys the rows of its tiles see, and
// starts the copies of queries, keys and values.
#pragma once
#include "hopper_attention_tile.cuh"
#include "key_range.cuh"

namespace tenon {

/// Where the copy engine finds a key head of a sequence in the matrix of a cache, [S · C, heads ·
/// size]; in pages [N · heads · P, size], `box` rows at a time.
template <typename Cache, int box> struct CacheMatrix {
  int base, head;

  __device__ __forceinline__ CacheMatrix(const int*, int sequence, int keyHead)
      : base(static_cast<int>(Cache::row(sequence, 0))), head(keyHead) {}
  __device__ __forceinline__ int row(int place) const { return base + place; }
  __device__ __forceinline__ int column(int size) const { return head * size; }
};
template <int sequences, int capacity, int heads, int pages, int page, int box>
struct CacheMatrix<PagedCache<sequences, capacity, heads, pages, page>, box> {
  using Cache = PagedCache<sequences, capacity, heads, pages, page>;
  static_assert(page % box == 0, "a box lies in one page");
  const int* blocks;
  int head;

  __device__ __forceinline__ CacheMatrix(const int* blockTable, int sequence, int keyHead)
      : blocks(Cache::blocksOf(blockTable, sequence)), head(keyHead) {}
  /// Places after the capacity repeat its last ones, which no row sees there.
  __device__ __forceinline__ int row(int place) const {
    return static_cast<int>(Cache::headRow(blocks, min(place, capacity - box), head));
  }
  __device__ __forceinline__ int column(int) const { return 0; }
};

/// What the producer's warp does for a block's tiles.
template <typename Config> struct HopperAttentionCopies : HopperAttentionTile<Config> {
  using Tile = HopperAttentionTile<Config>;
  using Tile::keySize, Tile::valueSize, Tile::keys, Tile::boxKeys, Tile::heads, Tile::stages,
      Tile::queryStages, Tile::rows, Tile::positions, Tile::findsChunks, Tile::width,
      Tile::keyBoxes, Tile::valueBoxes;
  using Tile::shared, Tile::extents;
  using Tile::Tile;
  using Tile::tiles, Tile::place;
  using typename Tile::Element, typename Tile::Cache, typename Tile::Ranges,
      typename Tile::TilePlace;
  using Matrix = CacheMatrix<Cache, boxKeys>;

  /// Leaves the ranges of the tile's rows in shared memory and returns its first block of keys and
  /// its end. All threads of the producer's warp. Rows before `own` are not the tile's.
  __device__ __forceinline__ int2 findRanges(Ranges& ranges, int sequence, const int* positionOf,
                                             int firstRow, int own) {
    const int lane = threadIdx.x % 32;
    int firstBegin = 0x7FFFFFFF, lastBegin = 0, firstEnd = 0x7FFFFFFF, lastEnd = 0;
    for (int i = lane; i < positions; i += 32) {
      const int row = firstRow + i;
      const bool exists = row < extents.rows && (!findsChunks || row >= own);
      const KeyRange range =
          findKeys<Cache>(sequence, exists ? positionOf[row] : -1, extents.causal, extents.window);
      const bool empty = range.begin >= range.end;
      ranges.begin[i] = empty ? 0 : range.begin;
      ranges.end[i] = empty ? 0 : range.end;
      if (!empty) {
        firstBegin = min(firstBegin, range.begin);
        lastBegin = max(lastBegin, range.begin);
        firstEnd = min(firstEnd, range.end);
        lastEnd = max(lastEnd, range.end);
      }
    }
    firstBegin = __reduce_min_sync(0xFFFFFFFFu, firstBegin);
    lastBegin = __reduce_max_sync(0xFFFFFFFFu, lastBegin);
    firstEnd = __reduce_min_sync(0xFFFFFFFFu, firstEnd);
    lastEnd = __reduce_max_sync(0xFFFFFFFFu, lastEnd);
    firstBegin = lastEnd == 0 ? 0 : firstBegin / keys * keys;
    if (lane == 0) {
      ranges.firstBegin = firstBegin;
      ranges.lastBegin = lastBegin;
      ranges.firstEnd = firstEnd;
      ranges.lastEnd = lastEnd;
    }
    __syncwarp();
    return {firstBegin, lastEnd};
  }

  template <int boxes>
  static __device__ __forceinline__ void bringBlock(Element (*target)[keys][width],
                                                    const TensorMap& map, const Matrix& matrix,
                                                    int first, int column, BulkBarrier& barrier) {
    barrier.expect(boxes * keys * width * 2);
#pragma unroll 1
    for (int key = 0; key < keys; key += boxKeys) {
      const int row = matrix.row(first + key);
#pragma unroll
      for (int i = 0; i < boxes; ++i)
        bringBox(target[i][key], map, row, column + i * width, barrier, evictNormal());
    }
  }

  /// What the producer's warp does: it starts the copies of all tiles of the block, in the order in
  /// which they are consumed.
  __device__ __forceinline__ void produce(const TensorMap& query, const TensorMap& key,
                                          const TensorMap& value, const int* blockTable,
                                          const int* sequenceOf, const int* positionOf) {
    const bool starts = threadIdx.x % 32 == 0;
    const int first = sequenceOf[0];
    typename Tile::template Place<queryStages> queryPlace;
    typename Tile::template Place<stages> keyPlace, valuePlace;
    for (int round = 0, tile = tileOfRound(0); round * gridDim.x < tiles();
         tile = tileOfRound(++round)) {
      if (tile >= tiles())
        continue;
      TilePlace own = place(tile, round);
      int sequence = extents.sequences == 1 ? first : sequenceOf[own.part];
      if constexpr (findsChunks) {
        const int last = own.row + positions - 1;
        sequence = sequenceOf[last];
        own.first = firstRowOfTile<positions>(last, sequenceOf, positionOf);
      }
      const int rowsBefore = own.part * extents.rows;
      shared.queryEmpty[queryPlace.stage].wait(queryPlace.parity ^ 1);
      if constexpr (findsChunks)
        if (starts)
          shared.firstRows[queryPlace.stage] = own.first;
      const int2 range = findRanges(shared.ranges[queryPlace.stage], sequence,
                                    positionOf + rowsBefore, own.row, own.first);
      if (starts) {
        BulkBarrier& barrier = shared.queryFull[queryPlace.stage];
        barrier.expect(rows * keyBoxes * width * 2);
#pragma unroll 1
        for (int i = 0; i < keyBoxes; ++i)
#pragma unroll 1
          for (int j = 0; j < heads; ++j)
            bringBox(shared.query[queryPlace.stage][i][j * positions], query, rowsBefore + own.row,
                     (own.head + j) * keySize + i * width, barrier, evictFirst());
        const int head = own.head / (extents.queryHeads / extents.keyHeads);
        const Matrix matrix(blockTable, sequence, head);
        auto bringKeys = [&](int first) {
          shared.keyEmpty[keyPlace.stage].wait(keyPlace.parity ^ 1);
          bringBlock<keyBoxes>(shared.key[keyPlace.stage], key, matrix, first,
                               matrix.column(keySize), shared.keyFull[keyPlace.stage]);
          keyPlace.next();
        };
        auto bringValues = [&](int first) {
          shared.valueEmpty[valuePlace.stage].wait(valuePlace.parity ^ 1);
          bringBlock<valueBoxes>(shared.value[valuePlace.stage], value, matrix, first,
                                 matrix.column(valueSize), shared.valueFull[valuePlace.stage]);
          valuePlace.next();
        };
        if (range.x < range.y)
          bringKeys(range.x);
        for (int first = range.x; first < range.y; first += keys) {
          if (first + keys < range.y)
            bringKeys(first + keys);
          bringValues(first);
        }
      }
      __syncwarp();
      queryPlace.next();
    }
  }
};

} // namespace tenon
