// Attention of many rows on Hopper's tensor cores: wgmma fed by the copy engine, the weights of
// values in registers (sm_90a), in the schedule of FlashAttention-3 (Shah et al. 2024, arXiv
// 2407.08608).
#pragma once
#include "hopper_attention_copies.cuh"
#include "hopper_scores.cuh"
#include "wgmma.cuh"

namespace tenon {

/// Attention of the rows of sequences, one after the other. Warpgroups take a tile's keys `keys` at
/// a time, in ascending order from multiples of `keys` on, so that a row's sums are the same in
/// every tile. While one warpgroup makes weights of its scores, the tensor cores are another's,
/// which take turns; and a warpgroup's own next scores and last values are multiplied meanwhile,
/// too.
template <typename Config> struct HopperAttention : HopperAttentionCopies<Config> {
  using Base = HopperAttentionCopies<Config>;
  using Base::Base;
  using Base::isProducer, Base::threadOfGroup;
  using Base::keySize, Base::valueSize, Base::keys, Base::consumers, Base::stages,
      Base::queryStages, Base::positions, Base::threads, Base::findsChunks, Base::width,
      Base::valueBoxes;
  using Base::shared, Base::extents;
  using Base::tileHeads, Base::tiles, Base::place, Base::produce;
  using typename Base::Element, typename Base::Ranges, typename Base::TilePlace;
  using Scores = WarpgroupScores<Element, keys, valueSize>;
  using State = typename Scores::State;
  using Row = typename Scores::Row;

  /// Wide heads leave the tensor cores no time to wait for turns.
  static constexpr bool turns = keySize + valueSize < 512;
  static constexpr int scoreCount = Scores::scoreCount, sumCount = Scores::sumCount;

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
    typename Base::template Place<queryStages> queryPlace;
    typename Base::template Place<stages> keyPlace, valuePlace;
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
            scores[i] = Scores::capped(scores[i], scale);
        if (first < lastBegin || first + keys > firstEnd)
          Scores::mask(scores, row, first);
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
        Scores::weigh(scores, state, factor);
        Scores::pack(weights, scores);
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
          const float2 corrections = Scores::weigh(scores, state, factor);
          waitForWgmmas<0>();
          holdSums(state.sums);
          release(shared.valueEmpty[valuePlace.stage]);
          valuePlace.next();
          Scores::correct(state.sums, corrections);
          Scores::pack(weights, scores);
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
