// Attention of many rows on Hopper's tensor cores: wgmma fed by the copy engine, the weights of
// values in registers (sm_90a), in the schedule of FlashAttention-3 (Shah et al. 2024, arXiv
// 2407.08608).
#pragma once
#include "chunk_tiles.cuh"
#include "key_range.cuh"
#include "scores.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

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

/// What all rows of a call have in common.
struct AttentionExtents {
  int sequences, rows;      ///< how many there are, and rows of each
  int queryHeads, keyHeads; ///< of the query; of the cache
  bool causal;
  int window;
};

/// Attention of the rows of sequences, one after the other. A tile has `rows` rows of the tensor
/// cores: the same
/// `positions` positions of `heads` query heads that share a key head. `consumers` warpgroups have
/// 64 rows each and take the tile's keys `keys` at a time, in ascending order from multiples of
/// `keys` on, so that a row's sums are the same in every tile; a warp after them starts the
/// copies. While one warpgroup makes weights of its scores, the tensor cores are another's, which
/// take turns; and a warpgroup's own next scores and last values are multiplied meanwhile, too.
/// Weights are rounded to Element, their sum is not. Blocks of the grid take tiles in turn, those
/// with the most keys first.
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
template <typename Config> struct HopperAttention : Config {
  using Element = typename Config::Element;
  using Cache = typename Config::Cache;
  using Config::keySize, Config::valueSize, Config::keys, Config::boxKeys, Config::heads,
      Config::consumers, Config::stages, Config::queryStages, Config::rounds;
  using Matrix = CacheMatrix<Cache, boxKeys>;

  /// Wide heads leave the tensor cores no time to wait for turns.
  static constexpr bool turns = keySize + valueSize < 512;
  /// Weights may be so many powers of two above 1 before a row's sums are rescaled.
  static constexpr float slack = 8.0f;
  static constexpr int rows = 64 * consumers, positions = rows / heads;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr bool findsChunks = rounds > 0;
  static constexpr int width = 64; ///< columns of a box
  static constexpr int keyBoxes = (keySize + width - 1) / width;
  static constexpr int valueBoxes = (valueSize + width - 1) / width;
  static constexpr int scoreCount = keys / 2, sumCount = valueSize / 2; ///< of a thread

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

  __device__ __forceinline__ HopperAttention(void* memory, AttentionExtents extents)
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
    Place<queryStages> queryPlace;
    Place<stages> keyPlace, valuePlace;
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

  /// What a warpgroup keeps of its tile: sums of weighted values, and of two rows each the largest
  /// score and this thread's part of the total of weights.
  struct State {
    float sums[sumCount];
    float largest[2], total[2];
  };
  struct Row {
    int begin[2], end[2];
  };

  /// Says that the warpgroup is done with a stage that the tensor cores alone read: products that
  /// one of its threads has waited for are over for all.
  static __device__ __forceinline__ void release(ReleaseBarrier& barrier) {
    if (threadOfGroup() == 0)
      barrier.arrive();
  }
  /// Says that a warp is done with a tile's queries and with the ranges, which its threads read.
  static __device__ __forceinline__ void releaseTile(ReleaseBarrier& barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      barrier.arrive();
  }

  __device__ __forceinline__ void multiplyKeys(float (&scores)[scoreCount], int group,
                                               int queryStage, int stage) {
#pragma unroll
    for (int k = 0; k < keySize / 16; ++k)
      Wgmma<Element, keys>::issue(
          scores,
          swizzledMatrix(sharedAddress(shared.query[queryStage][k / 4][64 * group])) + 2 * (k % 4),
          swizzledMatrix(sharedAddress(shared.key[stage][k / 4])) + 2 * (k % 4), k > 0);
    commitWgmmas();
  }
  __device__ __forceinline__ void addValues(float (&sums)[sumCount],
                                            const unsigned (&weights)[keys / 4], int stage) {
    const unsigned long long values =
        swizzledColumns(sharedAddress(shared.value[stage]), keys * width * 2);
#pragma unroll
    for (int k = 0; k < keys / 16; ++k)
      Wgmma<Element, valueSize>::issue(sums, weights + 4 * k, values + k * 16 * width * 2 / 16);
    commitWgmmas();
  }
  /// Zeros for values after the tile's last key, so that weights of zero leave nothing of them.
  __device__ __forceinline__ void clearValues(int stage, int first, int end) {
    if (first + keys <= end)
      return;
#pragma unroll
    for (int i = 0; i < valueBoxes; ++i) {
      uint4* row = reinterpret_cast<uint4*>(shared.value[stage][i]);
      for (int j = (end - first) * (width / 8) + threadOfGroup(); j < keys * (width / 8); j += 128)
        row[j] = {0, 0, 0, 0};
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(1 + static_cast<int>(warpOfBlock() / 4)), "n"(128)
                 : "memory");
  }

  /// The tangent that caps a score, about 2^-21 off: the C library's takes longer than all else.
  static __device__ __forceinline__ float capped(float dot, ScoreScale scale) {
    constexpr float twiceLog2e = 2.0f * 1.44269504f;
    const float power = powerOfTwo(dot * (twiceLog2e * scale.scale / scale.softcap));
    return __fmaf_rn(-2.0f, reciprocal(power + 1.0f), 1.0f);
  }

  /// Leaves out the keys that a row does not see; the block starts at key `first`.
  static __device__ __forceinline__ void mask(float (&scores)[scoreCount], const Row& row,
                                              int first) {
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int begin = row.begin[half] - first - 2 * t, end = row.end[half] - first - 2 * t;
#pragma unroll
      for (int i = 0; i < scoreCount; i += 4)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int key = i / 4 * 8 + c;
          if (key < begin || key >= end)
            scores[i + 2 * half + c] = minusInfinity();
        }
    }
  }

  /// Scores to weights. A weight of 1 is the largest score of the row so far, or one that `slack`
  /// powers of two are enough for. Returns by what the sums so far are to be multiplied.
  static __device__ __forceinline__ float2 weigh(float (&scores)[scoreCount], State& state,
                                                 float factor) {
    float corrections[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = minusInfinity();
#pragma unroll
      for (int i = 2 * half; i < scoreCount; i += 4)
        most = fmaxf(most, fmaxf(scores[i], scores[i + 1]));
#pragma unroll
      for (int offset = 1; offset <= 2; offset *= 2)
        most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
      if (!(most * factor > __fmaf_rn(state.largest[half], factor, slack)))
        most = state.largest[half];
      // A row that has seen no key yet.
      const float base = most == minusInfinity() ? 0.0f : -most * factor;
      corrections[half] = most == state.largest[half]
                              ? 1.0f
                              : powerOfTwo(__fmaf_rn(state.largest[half], factor, base));
      state.largest[half] = most;
      float sum = 0.0f;
#pragma unroll
      for (int i = 2 * half; i < scoreCount; i += 4)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const float weight = powerOfTwo(__fmaf_rn(scores[i + c], factor, base));
          scores[i + c] = weight;
          sum += weight;
        }
      state.total[half] = __fmaf_rn(state.total[half], corrections[half], sum);
    }
    return {corrections[0], corrections[1]};
  }
  static __device__ __forceinline__ void correct(float (&sums)[sumCount], float2 corrections) {
    if (__all_sync(0xFFFFFFFFu, corrections.x == 1.0f && corrections.y == 1.0f))
      return;
#pragma unroll
    for (int i = 0; i < sumCount; i += 4) {
      sums[i] *= corrections.x;
      sums[i + 1] *= corrections.x;
      sums[i + 2] *= corrections.y;
      sums[i + 3] *= corrections.y;
    }
  }
  static __device__ __forceinline__ void pack(unsigned (&weights)[keys / 4],
                                              const float (&scores)[scoreCount]) {
#pragma unroll
    for (int i = 0; i < keys / 4; ++i)
      weights[i] = pairFromFloat<Element>(scores[2 * i], scores[2 * i + 1]);
  }

  /// The warpgroup's turn on the tensor cores: from the second block of keys of its first tile on.
  static __device__ __forceinline__ void takeTurn(int group, bool first) {
    if (turns && !(first && group == 0))
      asm volatile("bar.sync %0, %1;" ::"r"(1 + consumers + group), "n"(256) : "memory");
  }
  static __device__ __forceinline__ void passTurn(int group) {
    if (turns)
      asm volatile("bar.arrive %0, %1;" ::"r"(1 + consumers + (group + 1) % consumers), "n"(256)
                   : "memory");
  }

  /// Four registers of each of four threads: the i-th of thread t becomes the t-th of thread i.
  static __device__ __forceinline__ void transpose(unsigned (&v)[4]) {
    const int lane = threadIdx.x;
#pragma unroll
    for (int offset = 1; offset <= 2; offset *= 2) {
      const bool upper = lane & offset;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unsigned& low = v[offset == 1 ? 2 * i : i];
        unsigned& high = v[offset == 1 ? 2 * i + 1 : i + 2];
        const unsigned got = __shfl_xor_sync(0xFFFFFFFFu, upper ? low : high, offset);
        (upper ? low : high) = got;
      }
    }
  }

  /// Gives the results of a warp's rows, zeros for rows without keys, to `store(m, head, column,
  /// bits)`, eight elements at a time.
  template <typename Store>
  __device__ __forceinline__ void finish(State& state, const Row& row, int group, TilePlace tile,
                                         Store store) {
    const int lane = threadIdx.x % 32, t = lane % 4;
    const int rowOfTile = 64 * group + threadOfGroup() / 32 * 16 + lane / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = state.total[half];
#pragma unroll
      for (int offset = 1; offset <= 2; offset *= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
      const float inverse = 1.0f / sum;
      const bool exists = row.end[half] > 0;
      const int own = rowOfTile + 8 * half;
      const int m = tile.row + own % positions, head = tile.head + own / positions;
#pragma unroll
      for (int column = 0; column < valueSize; column += 32) {
        unsigned pairs[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (column + 8 * i < valueSize) {
            const int at = (column + 8 * i) / 2 + 2 * half;
            pairs[i] = exists ? pairFromFloat<Element>(state.sums[at] * inverse,
                                                       state.sums[at + 1] * inverse)
                              : 0;
          } else {
            pairs[i] = 0;
          }
        transpose(pairs);
        if (m < extents.rows && (!findsChunks || m >= tile.first) &&
            (column + 32 <= valueSize || column + 8 * t < valueSize))
          store(tile.part * extents.rows + m, head, column + 8 * t,
                uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
      }
    }
  }

  /// What the warpgroups do.
  template <typename Store> __device__ __forceinline__ void consume(ScoreScale scale, Store store) {
    const int group = warpOfBlock() / 4;
    const int rowOfTile = 64 * group + threadOfGroup() / 32 * 16 + threadIdx.x % 32 / 4;
    Place<queryStages> queryPlace;
    Place<stages> keyPlace, valuePlace;
    bool firstTurn = true;
    const float factor = scale.softcap > 0.0f ? scale.softcap * scale.factor() : scale.factor();
    for (int round = 0, tile = tileOfRound(0); round * gridDim.x < tiles();
         tile = tileOfRound(++round)) {
      if (tile >= tiles())
        continue;
      TilePlace own = place(tile, round);
      shared.queryFull[queryPlace.stage].wait(queryPlace.parity);
      const Ranges& ranges = shared.ranges[queryPlace.stage];
      if constexpr (findsChunks)
        own.first = shared.firstRows[queryPlace.stage];
      Row row;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        row.begin[half] = ranges.begin[(rowOfTile + 8 * half) % positions];
        row.end[half] = ranges.end[(rowOfTile + 8 * half) % positions];
      }
      const int begin = ranges.firstBegin, end = ranges.lastEnd;
      const int lastBegin = ranges.lastBegin, firstEnd = ranges.firstEnd;
      State state;
#pragma unroll
      for (int i = 0; i < sumCount; ++i)
        state.sums[i] = 0.0f;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        state.largest[half] = minusInfinity();
        state.total[half] = 0.0f;
      }
      auto scoresOf = [&](float (&scores)[scoreCount], int first) {
        if (scale.softcap > 0.0f)
#pragma unroll
          for (int i = 0; i < scoreCount; ++i)
            scores[i] = capped(scores[i], scale);
        if (first < lastBegin || first + keys > firstEnd)
          mask(scores, row, first);
      };
      if (begin < end) {
        float scores[scoreCount];
        unsigned weights[keys / 4];
        shared.keyFull[keyPlace.stage].wait(keyPlace.parity);
#pragma unroll
        for (int i = 0; i < scoreCount; ++i)
          scores[i] = 0.0f;
        holdSums(scores);
        beginWgmmas();
        multiplyKeys(scores, group, queryPlace.stage, keyPlace.stage);
        waitForWgmmas<0>();
        holdSums(scores);
        release(shared.keyEmpty[keyPlace.stage]);
        keyPlace.next();
        scoresOf(scores, begin);
        weigh(scores, state, factor);
        pack(weights, scores);
        int first = begin + keys;
        for (; first < end; first += keys) {
          shared.keyFull[keyPlace.stage].wait(keyPlace.parity);
          takeTurn(group, firstTurn);
          firstTurn = false;
          holdSums(scores);
          holdSums(state.sums);
          beginWgmmas();
          multiplyKeys(scores, group, queryPlace.stage, keyPlace.stage);
          shared.valueFull[valuePlace.stage].wait(valuePlace.parity);
          beginWgmmas();
          addValues(state.sums, weights, valuePlace.stage);
          passTurn(group);
          waitForWgmmas<1>();
          holdSums(scores);
          release(shared.keyEmpty[keyPlace.stage]);
          keyPlace.next();
          scoresOf(scores, first);
          const float2 corrections = weigh(scores, state, factor);
          waitForWgmmas<0>();
          holdSums(state.sums);
          release(shared.valueEmpty[valuePlace.stage]);
          valuePlace.next();
          correct(state.sums, corrections);
          pack(weights, scores);
        }
        releaseTile(shared.queryEmpty[queryPlace.stage]);
        shared.valueFull[valuePlace.stage].wait(valuePlace.parity);
        clearValues(valuePlace.stage, first - keys, end);
        holdSums(state.sums);
        beginWgmmas();
        addValues(state.sums, weights, valuePlace.stage);
        waitForWgmmas<0>();
        holdSums(state.sums);
        release(shared.valueEmpty[valuePlace.stage]);
        valuePlace.next();
      } else {
        releaseTile(shared.queryEmpty[queryPlace.stage]);
      }
      queryPlace.next();
      finish(state, row, group, own, store);
    }
    if (group == 0 && !firstTurn)
      takeTurn(group, false); // the last one passed
  }

  /// All that a block does. `blockTable`: of a paged cache. `store(m, head, column, bits)` stores
  /// eight elements of the results.
  template <typename Store>
  __device__ __forceinline__ void
  run(const TensorMap& query, const TensorMap& key, const TensorMap& value, const int* blockTable,
      const int* sequenceOf, const int* positionOf, ScoreScale scale, Store store) {
    if constexpr (findsChunks)
      shared.template find<threads, positions>(extents.rows, tileHeads(), sequenceOf, positionOf);
    if (isProducer()) {
      if constexpr (consumers == 2)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      else
        asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
      if (threadIdx.x / 32 == 4 * consumers)
        produce(query, key, value, blockTable, sequenceOf, positionOf);
    } else {
      if constexpr (consumers == 2)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
      consume(scale, store);
    }
  }
};

} // namespace tenon
