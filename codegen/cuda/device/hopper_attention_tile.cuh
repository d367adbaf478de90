// Tiles of hopper_attention: what a block has of the rows and in shared memory, and which tiles it
// takes.
#pragma once
#include "chunk_tiles.cuh"
#include "kv_cache.cuh"
#include "tma.cuh"

namespace tenon {

/// What all rows of a call have in common.
struct AttentionExtents {
  int sequences, rows;      ///< how many there are, and rows of each
  int queryHeads, keyHeads; ///< of the query; of the cache
  bool causal;
  int window;
};

/// What a block has of its tiles. A tile has `rows` rows of the tensor cores: the same `positions`
/// positions of `heads` query heads that share a key head. `consumers` warpgroups have 64 rows
/// each, and a warp after them starts the copies. Blocks of the grid take tiles in turn, those with
/// the most keys first.
///
/// With `rounds` above 0 each row has a sequence of its own in memory, and chunks are what is found
/// there: rows beside each other, of one sequence at positions that follow each other. A tile has
/// rows of one chunk, fewer than `positions` where the chunk begins.
///
/// `Config` has
///   Element               F16 or BF16, the type of queries, keys, values and results;
///   Cache                 of the keys and of the values (kv_cache.cuh);
///   keySize, valueSize    of a head, multiples of 16 up to 256;
///   keys                  at a time, a multiple of 16 up to 256;
///   boxKeys               of a copy, which divide them: those of a page at most;
///   heads                 of a tile, a power of two that divides the heads that share a key head;
///   consumers             warpgroups, 2 or 3;
///   stages                of keys, and of values;
///   queryStages           1, or 2 for queries of the next tile;
///   rounds                tiles of a block at most, where chunks are found; else 0.
template <typename Config> struct HopperAttentionTile : Config {
  using Element = typename Config::Element;
  using Cache = typename Config::Cache;
  using Config::keySize, Config::valueSize, Config::keys, Config::boxKeys, Config::heads,
      Config::consumers, Config::stages, Config::queryStages, Config::rounds;

  static constexpr int rows = 64 * consumers, positions = rows / heads;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr bool findsChunks = rounds > 0;
  static constexpr int width = 64; ///< columns of a box
  static constexpr int keyBoxes = (keySize + width - 1) / width;
  static constexpr int valueBoxes = (valueSize + width - 1) / width;

  static_assert(keySize % 16 == 0 && valueSize % 16 == 0 && keys % 16 == 0, "whole instructions");
  static_assert(positions % 8 == 0, "whole swizzled rows");

  /// Which keys the rows of a tile see.
  struct Ranges {
    int begin[positions], end[positions];         ///< none: both 0
    int firstBegin, lastBegin, firstEnd, lastEnd; ///< of the rows that see keys
  };
  struct Shared : TileList<rounds> {
    alignas(1024) Element query[queryStages][keyBoxes][rows][width];
    alignas(1024) Element key[stages][keyBoxes][keys][width];
    alignas(1024) Element value[stages][valueBoxes][keys][width];
    Ranges ranges[queryStages];
    BulkBarrier queryFull[queryStages], keyFull[stages], valueFull[stages];
    ReleaseBarrier queryEmpty[queryStages], keyEmpty[stages], valueEmpty[stages];
  };

  Shared& shared;
  const AttentionExtents extents;

  /// A place in a ring of `count` stages.
  template <int count> struct Place {
    int stage = 0;
    unsigned parity = 0;
    __device__ __forceinline__ void next() {
      if (++stage == count)
        stage = 0, parity ^= 1;
    }
  };

  __device__ __forceinline__ HopperAttentionTile(void* memory, AttentionExtents extents)
      : shared(*static_cast<Shared*>(memory)), extents(extents) {}

  static __device__ __forceinline__ bool isProducer() { return threadIdx.x >= 128 * consumers; }
  static __device__ __forceinline__ int threadOfGroup() { return threadIdx.x % 128; }

  /// Before all else, by all threads.
  __device__ __forceinline__ void start(const TensorMap& query, const TensorMap& key,
                                        const TensorMap& value) {
    if (threadIdx.x == 0) {
      prefetch(query);
      prefetch(key);
      prefetch(value);
#pragma unroll
      for (int i = 0; i < queryStages; ++i) {
        shared.queryFull[i].init();
        shared.queryEmpty[i].init(4 * consumers);
      }
#pragma unroll
      for (int i = 0; i < stages; ++i) {
        shared.keyFull[i].init();
        shared.keyEmpty[i].init(consumers);
        shared.valueFull[i].init();
        shared.valueEmpty[i].init(consumers);
      }
      fenceBarriers();
    }
    __syncthreads();
  }

  __device__ __forceinline__ int rowTiles() const {
    return (extents.rows + positions - 1) / positions;
  }
  __device__ __forceinline__ int tileHeads() const { return extents.queryHeads / heads; }
  __device__ __forceinline__ int tiles() const {
    if constexpr (findsChunks)
      return shared.tiles;
    else
      return rowTiles() * extents.sequences * tileHeads();
  }
  /// Where a tile lies: which of the sequences, its first row of those that it has, its first query
  /// head. The last rows, which see most keys, come first. Of a chunk the rows before `first` are
  /// none of the tile's.
  struct TilePlace {
    int part, row, head, first;
  };
  __device__ __forceinline__ TilePlace place(int tile, int round) const {
    if constexpr (findsChunks)
      return {0, shared.lastRows[round] + 1 - positions, tile % tileHeads() * heads, 0};
    const int rowsAndPart = tile / tileHeads();
    return {rowsAndPart % extents.sequences,
            (rowTiles() - 1 - rowsAndPart / extents.sequences) * positions,
            tile % tileHeads() * heads, 0};
  }
};

} // namespace tenon
