// What hopper_gemm does for the sums of a tile: copies bring stages of both factors, and warpgroups
// multiply them.
#pragma once
#include "hopper_tile.cuh"
#include "wgmma.cuh"

namespace tenon {

/// The copies and the products of a block's tiles.
template <typename Config> struct HopperMainloop : HopperTile<Config> {
  using Tile = HopperTile<Config>;
  using Tile::blocks, Tile::columns, Tile::rows, Tile::lines, Tile::depth, Tile::stages,
      Tile::stageBytes, Tile::usedRows, Tile::ownRows, Tile::shareOfX, Tile::sharersOfX,
      Tile::gemms, Tile::groups, Tile::weightRows, Tile::joined, Tile::quantised, Tile::ringPieces,
      Tile::pieceStages, Tile::clusterA, Tile::clusterB, Tile::partBlocks;
  using Tile::shared, Tile::firstStep, Tile::steps, Tile::ahead;
  using Tile::threadOfGroup, Tile::rankA, Tile::rankB, Tile::firstOfPart, Tile::firstRow;
  using Tile::Tile;
  using Tile::units, Tile::firstUnit, Tile::workers, Tile::place, Tile::enterGroup;
  using typename Tile::Element, typename Tile::Factors, typename Tile::Ring, typename Tile::Stage;

  /// Brings `own` rows of each of `matrices` from row `first` on to `target` and, of the next one,
  /// `toNext` rows further; of several sharers in the cluster for all of `mask`.
  template <int own, int matrices, int sharers>
  static __device__ __forceinline__ void
  bring(Element (*target)[depth], int toNext, const TensorMap* const* maps, int first, int step,
        BulkBarrier& barrier, unsigned long long policy, unsigned short mask) {
    static_assert(own <= 256, "a box");
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      if constexpr (sharers > 1)
        bringBox(target[i * toNext], *maps[i], first, step * depth, barrier, policy, mask);
      else
        bringBox(target[i * toNext], *maps[i], first, step * depth, barrier, policy);
    }
  }

  // Blocks that get this block's part of a tile's rows of A and of B.
  __device__ __forceinline__ unsigned short sharersOfA() const {
    unsigned short mask = 0;
#pragma unroll
    for (int i = 0; i < clusterB; ++i)
      mask |= 1 << (firstOfPart() + rankA() + i * clusterA);
    return mask;
  }
  __device__ __forceinline__ unsigned short sharersOfB() const {
    return ((1 << clusterA) - 1) << (firstOfPart() + rankB() * clusterA);
  }
  __device__ __forceinline__ void bringX(const TensorMap& x, int firstRow, int stage, int step,
                                         unsigned long long policy) {
    const TensorMap* const xs[1] = {&x};
    Stage& to = shared.ring[stage];
    static_assert(shareOfX % 8 == 0, "whole swizzled rows");
    constexpr int last = (usedRows - ownRows) / 8 * 8;
    const int skipped = min((weightRows ? rankA() : rankB()) * shareOfX, last);
    Element(*target)[depth];
    if constexpr (weightRows)
      target = to.b;
    else
      target = to.a;
    bring<ownRows, 1, sharersOfX>(target + skipped, 0, xs, firstRow + skipped, step,
                                  shared.full[stage], policy,
                                  weightRows ? sharersOfB() : sharersOfA());
  }
  /// Has the stage expect all its bytes.
  __device__ __forceinline__ void bringW(const TensorMap* const* w, int firstLine, int stage,
                                         int step, unsigned long long policy) {
    Stage& to = shared.ring[stage];
    shared.full[stage].expect(stageBytes);
    constexpr int sharers = weightRows ? clusterB : clusterA, own = lines / sharers;
    static_assert(own % 8 == 0, "whole swizzled rows");
    const int skipped = (weightRows ? rankB() : rankA()) * own;
    Element(*target)[depth];
    if constexpr (weightRows)
      target = to.a;
    else
      target = to.b;
    bring<own, gemms, sharers>(target + skipped, lines, w, firstLine + skipped, step,
                               shared.full[stage], policy,
                               weightRows ? sharersOfA() : sharersOfB());
  }

  template <bool inBlocks, int none = 0> struct WeightOf {
    using Type = TensorMap;
  };
  template <int none> struct WeightOf<true, none> {
    using Type = unsigned char;
  };
  /// Of quantised W where a matrix lies, else its tensor map.
  using Weight = const typename WeightOf<quantised>::Type*;
  /// Of each product of each group.
  using Weights = const Weight[groups][gemms];

  static __device__ __forceinline__ void selectWeights(const Weights& w, int group,
                                                       Weight (&ofGroup)[gemms]) {
#pragma unroll
    for (int i = 0; i < gemms; ++i) {
      ofGroup[i] = w[0][i];
#pragma unroll
      for (int j = 1; j < groups; ++j)
        ofGroup[i] = j == group ? w[j][i] : ofGroup[i];
    }
  }

  /// What thread 256 does: it starts the copies of all tiles of the block, in order.
  __device__ __forceinline__ void produce(const TensorMap& x, const Weights& w,
                                          unsigned long long xPolicy, unsigned long long wPolicy) {
    int stage = 0, rowTile, columnTile;
    unsigned parity = 0;
    for (int unit = firstUnit(); unit < units(); unit += workers()) {
      place(unit, rowTile, columnTile);
      const int firstRow = Tile::firstOfX(rowTile, columnTile);
      [[maybe_unused]] const int group = enterGroup(rowTile, columnTile);
      [[maybe_unused]] const int firstLine = Tile::firstOfW(rowTile, columnTile, group);
      [[maybe_unused]] Weight ofGroup[gemms];
      if constexpr (!quantised)
        selectWeights(w, group, ofGroup);
      for (int step = 0; step < steps; ++step) {
        if constexpr (quantised) {
          shared.empty[stage].wait(parity ^ 1);
          shared.full[stage].expect(stageBytes);
        } else if (--ahead < 0) {
          shared.empty[stage].wait(parity ^ 1);
          bringW(ofGroup, firstLine, stage, firstStep + step, wPolicy);
        }
        bringX(x, firstRow, stage, firstStep + step, xPolicy);
        if (++stage == stages)
          stage = 0, parity ^= 1;
      }
    }
  }

  /// What the warp of quantised W does: it starts the copies of all pieces of the block from number
  /// `first` on, at most `most` of them. The first ones find their places empty.
  __device__ __forceinline__ void producePieces(const Weights& w, int first, int most,
                                                unsigned long long policy) {
    int number = 0;
    for (int unit = firstUnit(); unit < units(); unit += workers()) {
      int rowTile, columnTile;
      place(unit, rowTile, columnTile);
      const int group = enterGroup(rowTile, columnTile);
      Weight ofGroup[gemms];
      selectWeights(w, group, ofGroup);
      for (int piece = 0; piece < steps / pieceStages; ++piece, ++number) {
        if (number < first)
          continue;
        if (number - first == most)
          return;
        const int slot = number % ringPieces;
        if (number >= ringPieces)
          shared.ofWeights.ring.empty[slot].wait((number / ringPieces & 1) ^ 1);
        Ring::bring(shared.ofWeights.ring, slot, ofGroup, rowTile * lines, Config::width(group),
                    Config::lineBytes, firstStep / pieceStages + piece, policy);
      }
    }
  }

  /// Says that the warpgroup is done with a stage, to all blocks that bring a part of it.
  __device__ __forceinline__ void release(int stage) {
    if constexpr (partBlocks == 1) {
      if (threadOfGroup() == 0)
        shared.empty[stage].arrive();
    } else {
      const int to = threadOfGroup();
      if (to < partBlocks && (to % clusterA == rankA() || to / clusterA == rankB()))
        shared.empty[stage].arriveIn(firstOfPart() + to);
    }
  }

  /// The factors of a thread in a group of 32 elements of a line's piece.
  struct Factor {
    unsigned of16[2][4];
  };
  /// Keeps the compiler from using their registers while products read them.
  static __device__ __forceinline__ void hold(Factor& factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (unsigned& pair : factor.of16[half])
        asm volatile("" : "+r"(pair)::"memory");
  }
  /// As `multiply`, of quantised W: the factors of 64 lines in a group of 32 elements of K are made
  /// while the tensor cores multiply those before. A stage has two groups of each block of lines.
  template <typename Arrived>
  __device__ __forceinline__ void multiplyPieces(float (&sums)[blocks][columns / 2], int group,
                                                 unsigned count, Arrived arrived) {
    using Piece = typename Ring::Piece;
    auto& ring = shared.ofWeights.ring;
    const int line = threadIdx.x % 32 / 4, warp = warpOfBlock() % 4;
    auto& tables = shared.ofWeights.tables[warpOfBlock()];
    int stage = count % stages, previous = -1;
    unsigned parity = count / stages & 1, number = count / pieceStages;
    Factor factors[2];
    typename Factors::Pair upper, lower; // of a block's lines, the groups of a stage
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
#pragma unroll 1
    for (int piece = 0; piece < steps / pieceStages; ++piece, ++number) {
      const int slot = number % ringPieces;
      ring.full[slot].wait(number / ringPieces & 1);
      // Of the thread's first line in each block.
      const unsigned char* const first = ring.bytes[slot] +
                                         (firstRow(group, 0) + 16 * warp + line) * Piece::pitch +
                                         Piece::skipped(firstStep / pieceStages + piece);
      constexpr int toNextBlock = (joined ? Tile::lines : 64) * Piece::pitch;
      __syncwarp();
#pragma unroll
      for (int i = 0; i < blocks; ++i)
        Factors::fill(tables[i], first - line * Piece::pitch + i * toNextBlock, Piece::pitch);
      __syncwarp();
      auto load = [&](int turn) {
        const int i = turn / 2 % blocks, pair = turn / (2 * blocks);
        const unsigned char* const own = first + i * toNextBlock;
        upper.load(tables[i], own, line, pair);
        lower.load(tables[i], own + 8 * Piece::pitch, line + 8, pair);
      };
      load(0);
      constexpr int turns = 2 * blocks * pieceStages;
#pragma unroll
      for (int turn = 0; turn < turns; ++turn) {
        const int odd = turn % 2, i = turn / 2 % blocks, pair = turn / (2 * blocks);
        Factor& factor = factors[odd];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          unsigned above[2], below[2];
          const unsigned char* const own = first + i * toNextBlock;
          upper.take(above, own, pair, odd, half);
          lower.take(below, own + 8 * Piece::pitch, pair, odd, half);
          unsigned (&to)[4] = factor.of16[half];
          to[0] = above[0], to[1] = below[0], to[2] = above[1], to[3] = below[1];
        }
        if (turn + 1 == turns) {
          __syncwarp();
          if (threadIdx.x % 32 == 0)
            ring.empty[slot].arrive();
        }
        const bool opensStage = turn % (2 * blocks) == 0;
        if (opensStage)
          shared.full[stage].wait(parity);
        hold(factor);
        beginWgmmas();
        const unsigned long long b = swizzledMatrix(sharedAddress(shared.ring[stage].b));
#pragma unroll
        for (int half = 0; half < 2; ++half)
          Wgmma<Element, columns>::issueRows(
              sums[i], factor.of16[half], movedMatrix(b, 4 * odd + 2 * half),
              piece > 0 || turn >= 2 * blocks || odd > 0 || half > 0);
        commitWgmmas();
        if (odd == 1 && turn + 1 < turns)
          load(turn + 1);
        waitForWgmmas<1>();
        if (turn > 0 || piece > 0)
          hold(factors[1 - odd]);
        if (opensStage) {
          if (previous >= 0)
            release(previous);
          previous = stage;
        }
        if ((turn + 1) % (2 * blocks) == 0 && ++stage == stages)
          stage = 0, parity ^= 1;
      }
    }
    arrived();
    waitForWgmmas<0>();
    hold(factors[1]);
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
    if (previous >= 0)
      release(previous);
  }

  /// Adds the products of a tile, whose stages are those from number `count` on of all that the
  /// block brings. Calls `nearEnd` up to four stages before the end: loads behind the last one
  /// would be waited for. Calls `arrived` when all stages are there.
  template <typename NearEnd, typename Arrived>
  __device__ __forceinline__ void multiply(float (&sums)[blocks][columns / 2], int group,
                                           unsigned count, NearEnd nearEnd, Arrived arrived) {
    int stage = count % stages, previous = -1;
    unsigned parity = count / stages & 1;
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
    auto turn = [&](int step) {
      shared.full[stage].wait(parity);
      beginWgmmas();
      const unsigned long long b = swizzledMatrix(sharedAddress(shared.ring[stage].b));
#pragma unroll
      for (int k = 0; k < depth / 16; ++k)
#pragma unroll
        for (int i = 0; i < blocks; ++i)
          Wgmma<Element, columns>::issue(
              sums[i],
              swizzledMatrix(sharedAddress(shared.ring[stage].a[firstRow(group, i)])) + 2 * k,
              b + 2 * k, step > 0 || k > 0);
      commitWgmmas();
      waitForWgmmas<1>();
      if (previous >= 0)
        release(previous);
      previous = stage;
      if (++stage == stages)
        stage = 0, parity ^= 1;
    };
    // Sums of more registers leave none for what an epilogue loads, and where warpgroups take turns
    // nothing waits for it.
    constexpr int last = !Tile::pingPong && blocks * columns <= 256 ? 4 : 0;
    int step = 0;
#pragma unroll 1
    for (; step < steps - last; ++step)
      turn(step);
    nearEnd();
#pragma unroll 1
    for (; step < steps; ++step)
      turn(step);
    arrived();
    waitForWgmmas<0>();
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
    if (previous >= 0)
      release(previous);
  }
};

} // namespace tenon
