// y = x * W^T on Hopper's tensor cores: wgmma fed by the copy engine through a ring of stages
// (sm_90a).
#pragma once
#include "cluster.cuh"
#include "hopper_blocks.cuh"
#include "memory.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

namespace tenon {

/// Where the tiles of a product lie: A of `rowTiles` tiles, B of `columnTiles`, `steps` stages of
/// K. Tiles of W are those of all groups, one group after the other. Blocks take tiles in turn in
/// bands of `band` row tiles, down the rows first, so that what runs at one time shares rows of
/// both matrices in the L2 cache.
struct TileOrder {
  int rowTiles, columnTiles, band, steps;
};

/// A block of `threads` computes tiles of A * B^T: two warpgroups multiply, thread 256 starts the
/// copies. A of the tensor cores is x and B is W, or the other way round (`weightRows`) where x has
/// so few rows that tiles of 64 of them would stay empty. Each sum starts from zero and takes the
/// elements of K in ascending order, 16 an instruction, so that it is the same for every tile.
/// Where
/// `split` > 1, that is so of each of so many parts of K, whose sums are added in ascending order: a
/// cluster has the same tile, a block a part of K, and a warp's rows are summed, and stored, by the
/// warp of the same number in one of the blocks. Such a tile is all that a block has.
///
/// `Config` has
///   Element               F16 or BF16, the type of x and W;
///   Result                to which a product is rounded before the epilogue: Element or float;
///   blocks                of 64 rows of A that a warpgroup has;
///   columns               rows of B in a tile, a multiple of 16 up to 256;
///   stages                of the ring, 64 elements of K each;
///   pingPong              the warpgroups take tiles in turn, so that one multiplies while the
///                         other stores; otherwise they share a tile's rows;
///   weightRows            A is W;
///   products              1, or 2 that one epilogue joins: a tile has the same lines of two
///                         matrices W;
///   groups                of so many products, each of weights and an epilogue of its own;
///   firstTile(group)      the first tile of W that is the group's;
///   mapped                each group has one result, of type Result, that tiles are stored to by a
///                         tensor map while the next ones are multiplied;
///   plain                 it is the product itself;
///   clusterA, clusterB    blocks of a cluster in the direction of A's and B's rows: they share B
///                         and A and each brings a part of it for all;
///   split                 blocks of a cluster that each have a part of K;
///   Encoding, ringPieces  of block-quantised W, which is then A, 256 elements of K a piece: a warp
///                         copies them, and the warpgroups make their factors of them in registers,
///                         rounded to Element. 0 pieces: W has Element, too, and comes with x.
template <typename Config> struct HopperGemm : Config {
  using Element = typename Config::Element;
  using Result = typename Config::Result;
  using Config::blocks, Config::columns, Config::stages, Config::pingPong, Config::weightRows,
      Config::gemms, Config::groups, Config::mapped, Config::plain, Config::clusterA,
      Config::clusterB, Config::split, Config::ringPieces;

  static constexpr int depth = 64, consumers = 2;
  static constexpr bool quantised = ringPieces > 0;
  /// Warpgroups with more than 64 sums a thread take registers from a third one, the producer's;
  /// for fewer a warp is producer enough, and one more where W is quantised.
  static constexpr bool movesRegisters = blocks * columns > 128;
  static constexpr int threads = movesRegisters ? 384 : quantised ? 320 : 288;
  static constexpr int rows = 64 * blocks * (pingPong ? 1 : consumers); // of A in a tile
  static constexpr int partBlocks = clusterA * clusterB; // of a cluster, that have one part of K
  static constexpr int cluster = partBlocks * split;
  /// Of W in a tile, for each product.
  static constexpr int lines = (weightRows ? rows : columns) / gemms;
  static constexpr int stageBytes = ((quantised ? 0 : rows) + columns) * depth * 2;
  /// Two products in two blocks of A: each block's sums are a product's.
  static constexpr bool joined = weightRows && gemms == 2;
  /// Columns of B of each product in a tile, and how many of them a warp stores at a time.
  static constexpr int tileWidth = weightRows ? columns : lines;
  static constexpr __device__ int widthOf(int first) {
    return tileWidth - first < 64 ? tileWidth - first : 64;
  }
  static constexpr int firstWidth = tileWidth < 64 ? tileWidth : 64;
  /// Pieces of 16 bytes in a plane: what a warp's 16 rows of A have in 64 columns.
  static constexpr int pieces = 16 * 64 * sizeof(Result) / 16;
  /// Planes of a warp: one for each product, and one more of results on their way to y.
  static constexpr int planes = mapped ? 2 : gemms;
  static constexpr int chunks = (joined ? 1 : blocks) * tileWidth / 64; // of a mapped tile

  static_assert(!mapped || (!weightRows && tileWidth % 64 == 0 && sizeof(Result) == 2),
                "whole boxes of a result");
  static_assert(columns % 16 == 0 && columns <= 256 && lines % 16 == 0, "whole instructions");
  static_assert(gemms == 1 || !weightRows || blocks == 2, "a block of 64 rows for each GEMM");

  /// Of a tile: warps, and those of them whose sums a block adds up.
  static constexpr int warpsOfTile = pingPong ? 4 : 4 * consumers;
  static constexpr int ownWarps = (warpsOfTile + split - 1) / split;
  /// Sums of a thread, four at a time.
  static constexpr int sumVectors = blocks * columns / 8;
  static_assert(split <= warpsOfTile, "a warp of each tile for each block");

  /// Stages that a piece of quantised W has.
  static constexpr int pieceStages = 4;
  static_assert(!quantised || (weightRows && clusterB == 1), "lines of W are one block's");
  using Factors = BlockFactors<typename Config::Encoding, Element>;
  using Ring = BlockRing<typename Config::Encoding, rows, gemms, ringPieces>;

  template <bool both, int none = 0> struct alignas(1024) StageOf {
    Element a[rows][depth], b[columns][depth];
  };
  template <int none> struct alignas(1024) StageOf<false, none> {
    Element b[columns][depth];
  };
  using Stage = StageOf<!quantised>;
  template <typename OwnRing, typename OwnFactors, bool exist> struct PiecesOf {
    typename OwnRing::Shared ring;
    typename OwnFactors::Table tables[4 * consumers][blocks];
  };
  template <typename OwnRing, typename OwnFactors> struct PiecesOf<OwnRing, OwnFactors, false> {};
  /// What the other blocks' warps have of the sums of this block's own, in the order of their parts
  /// of K.
  template <int parts, int none = 0> struct Exchange {
    float4 sums[ownWarps][parts - 1][sumVectors][32];
    BulkBarrier arrived[ownWarps];
  };
  template <int none> struct Exchange<1, none> {};
  struct Shared {
    Stage ring[stages];
    uint4 planes[4 * consumers][planes][pieces]; // of each warp, 2 KB each where they are mapped
    BulkBarrier full[stages];
    ReleaseBarrier empty[stages];
    [[no_unique_address]] Exchange<split> exchange;
    [[no_unique_address]] PiecesOf<Ring, Factors, quantised> ofWeights;
  };

  Shared& shared;
  const TileOrder order;
  unsigned rank;     // in the cluster
  int firstStep = 0; // of K, of the block's,
  int steps;         // and how many there are
  int ahead = 0;     // stages, or pieces, of which W is on its way before x is

  __device__ __forceinline__ HopperGemm(void* memory, TileOrder order)
      : shared(*static_cast<Shared*>(memory)), order(order), rank(0), steps(order.steps) {
    if constexpr (cluster > 1)
      asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if constexpr (split > 1) {
      constexpr int unit = quantised ? pieceStages : 1;
      const int most = (order.steps / unit + split - 1) / split * unit;
      firstStep = part() * most;
      steps = min(most, order.steps - firstStep);
    }
  }

  static __device__ __forceinline__ int threadOfGroup() { return threadIdx.x % 128; }
  static __device__ __forceinline__ bool isProducer() { return threadIdx.x >= 128 * consumers; }
  /// Whether the thread's warp brings quantised W.
  static __device__ __forceinline__ bool bringsPieces() {
    return threadIdx.x / 32 == 4 * consumers + 1;
  }

  __device__ __forceinline__ int rankA() const { return rank % clusterA; }
  __device__ __forceinline__ int rankB() const { return rank / clusterA % clusterB; }
  /// Of K, and the first block of the cluster that has it.
  __device__ __forceinline__ int part() const { return rank / partBlocks; }
  __device__ __forceinline__ int firstOfPart() const { return rank - rank % partBlocks; }

  /// Before all else, by all threads.
  __device__ __forceinline__ void open() {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < stages; ++i) {
        shared.full[i].init();
        shared.empty[i].init((pingPong ? 1 : consumers) * (clusterA + clusterB - 1));
      }
      if constexpr (split > 1) {
#pragma unroll
        for (int i = 0; i < ownWarps; ++i)
          shared.exchange.arrived[i].init();
      }
      if constexpr (quantised)
        Ring::open(shared.ofWeights.ring, warpsOfTile);
      fenceBarriers();
      if constexpr (split > 1) {
#pragma unroll
        for (int i = 0; i < ownWarps; ++i)
          shared.exchange.arrived[i].expect(sizeof(shared.exchange.sums[i]));
      }
    }
    if constexpr (cluster > 1)
      meetCluster();
    else
      __syncthreads();
  }
  /// Behind all else, by all threads: a block's shared memory outlives what others send there.
  __device__ __forceinline__ void close() {
    if constexpr (cluster > 1) {
      __syncwarp();
      meetCluster();
    }
  }

  // Clusters take units of clusterA x clusterB tiles in turn.
  __device__ __forceinline__ int rowUnits() const {
    return (order.rowTiles + clusterA - 1) / clusterA;
  }
  __device__ __forceinline__ int units() const {
    return rowUnits() * ((order.columnTiles + clusterB - 1) / clusterB);
  }
  static __device__ __forceinline__ int firstUnit() { return blockIdx.x / cluster; }
  static __device__ __forceinline__ int workers() { return gridDim.x / cluster; }
  /// This block's tile of a unit.
  __device__ __forceinline__ void place(int unit, int& rowTile, int& columnTile) const {
    const int columnUnits = (order.columnTiles + clusterB - 1) / clusterB;
    const int first = unit / (order.band * columnUnits) * order.band;
    const int height = min(order.band, rowUnits() - first), rest = unit - first * columnUnits;
    rowTile = (first + rest % height) * clusterA + rankA();
    columnTile = rest / height * clusterB + rankB();
  }

  /// The group whose tile of W a tile is; the tile becomes the group's own.
  static __device__ __forceinline__ int enterGroup(int& rowTile, int& columnTile) {
    int& tile = weightRows ? rowTile : columnTile;
    int group = 0;
#pragma unroll
    for (int i = 1; i < groups; ++i)
      group = tile >= Config::firstTile(i) ? i : group;
    tile -= Config::firstTile(group);
    return group;
  }
  template <int number> struct Group {
    static constexpr int value = number;
  };
  /// Calls body(Group<group>()).
  template <int number = 0, typename Body>
  static __device__ __forceinline__ void inGroup(int group, Body body) {
    if constexpr (number + 1 == groups) {
      body(Group<number>());
    } else {
      if (group == number)
        body(Group<number>());
      else
        inGroup<number + 1>(group, body);
    }
  }

  /// Brings `count` rows of each of `matrices` from row tile * count on to `target`, one matrix
  /// after the other; of `sharers` blocks of the cluster, this one brings part `part` for all of
  /// `mask`.
  template <int count, int matrices, int sharers>
  static __device__ __forceinline__ void
  bring(Element (*target)[depth], const TensorMap* const* maps, int tile, int step,
        BulkBarrier& barrier, unsigned long long policy, int part, unsigned short mask) {
    constexpr int own = count / sharers;
    static_assert(own % 8 == 0 && own <= 256, "whole swizzled rows, a box");
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      Element* to = target[i * count + part * own];
      if constexpr (sharers > 1)
        bringBox(to, *maps[i], tile * count + part * own, step * depth, barrier, policy, mask);
      else
        bringBox(to, *maps[i], tile * count, step * depth, barrier, policy);
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
  __device__ __forceinline__ void bringX(const TensorMap& x, int rowTile, int columnTile, int stage,
                                         int step, unsigned long long policy) {
    const TensorMap* const xs[1] = {&x};
    Stage& to = shared.ring[stage];
    if constexpr (weightRows)
      bring<columns, 1, clusterA>(to.b, xs, columnTile, step, shared.full[stage], policy, rankA(),
                                  sharersOfB());
    else
      bring<rows, 1, clusterB>(to.a, xs, rowTile, step, shared.full[stage], policy, rankB(),
                               sharersOfA());
  }
  /// Has the stage expect all its bytes.
  __device__ __forceinline__ void bringW(const TensorMap* const* w, int rowTile, int columnTile,
                                         int stage, int step, unsigned long long policy) {
    Stage& to = shared.ring[stage];
    shared.full[stage].expect(stageBytes);
    if constexpr (weightRows)
      bring<lines, gemms, clusterB>(to.a, w, rowTile, step, shared.full[stage], policy, rankB(),
                                    sharersOfA());
    else
      bring<lines, gemms, clusterA>(to.b, w, columnTile, step, shared.full[stage], policy, rankA(),
                                    sharersOfB());
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
      [[maybe_unused]] Weight ofGroup[gemms];
      if constexpr (!quantised)
        selectWeights(w, enterGroup(rowTile, columnTile), ofGroup);
      for (int step = 0; step < steps; ++step) {
        if constexpr (quantised) {
          shared.empty[stage].wait(parity ^ 1);
          shared.full[stage].expect(stageBytes);
        } else if (--ahead < 0) {
          shared.empty[stage].wait(parity ^ 1);
          bringW(ofGroup, rowTile, columnTile, stage, firstStep + step, wPolicy);
        }
        bringX(x, rowTile, columnTile, stage, firstStep + step, xPolicy);
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

  /// The row of a stage's A where block i of a warpgroup's begins.
  static __device__ __forceinline__ int firstRow(int group, int i) {
    const int own = pingPong ? 0 : group;
    return joined ? i * lines + 64 * own : (own * blocks + i) * 64;
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
      constexpr int toNextBlock = (joined ? HopperGemm::lines : 64) * Piece::pitch;
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
        const unsigned long long b = swizzledMatrix(sharedAddress(shared.ring[stage].b)) + odd * 4;
#pragma unroll
        for (int half = 0; half < 2; ++half)
          Wgmma<Element, columns>::issueRows(sums[i], factor.of16[half], b + 2 * half,
                                             piece > 0 || turn >= 2 * blocks || odd > 0 ||
                                                 half > 0);
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
  /// block brings. Calls `arrived` when all of them are there.
  template <typename Arrived>
  __device__ __forceinline__ void multiply(float (&sums)[blocks][columns / 2], int group,
                                           unsigned count, Arrived arrived) {
    int stage = count % stages, previous = -1;
    unsigned parity = count / stages & 1;
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
    for (int step = 0; step < steps; ++step) {
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
    }
    arrived();
    waitForWgmmas<0>();
#pragma unroll
    for (int i = 0; i < blocks; ++i)
      holdSums(sums[i]);
    if (previous >= 0)
      release(previous);
  }

  /// Whether this block adds up and stores what the warps of the number of this one have.
  __device__ __forceinline__ bool ownsSums() const {
    return split == 1 || warpOfBlock() % warpsOfTile % split == part();
  }
  /// Adds up the sums of all parts of K in the warp of the block that owns them; leaves the others
  /// as they are.
  __device__ __forceinline__ void addParts(float (&sums)[blocks][columns / 2]) {
    const int warp = warpOfBlock() % warpsOfTile, lane = threadIdx.x % 32;
    const int owner = warp % split, slot = warp / split;
    auto& exchange = shared.exchange;
    auto sumOf = [&](int vector, int i) -> float& {
      return sums[vector / (columns / 8)][vector % (columns / 8) * 4 + i];
    };
    if (owner != part()) {
      const unsigned to = owner * partBlocks + rank % partBlocks;
      const int place = part() - (part() > owner);
      const unsigned target = addressIn(to, &exchange.sums[slot][place][0][lane]);
      const unsigned arrived = addressIn(to, &exchange.arrived[slot]);
#pragma unroll
      for (int v = 0; v < sumVectors; ++v)
        storeAsync(target + v * sizeof(exchange.sums[0][0][0]),
                   float4{sumOf(v, 0), sumOf(v, 1), sumOf(v, 2), sumOf(v, 3)}, arrived);
      return;
    }
    exchange.arrived[slot].waitForCluster(0);
#pragma unroll
    for (int v = 0; v < sumVectors; ++v) {
      const float4 own = {sumOf(v, 0), sumOf(v, 1), sumOf(v, 2), sumOf(v, 3)};
      float4 total;
#pragma unroll
      for (int p = 0; p < split; ++p) {
        // Of the other parts, those after this one lie one place further to the front.
        const float4 other = exchange.sums[slot][min(p - (p > owner), split - 2)][v][lane];
        const float4 next = p == owner ? own : other;
        total =
            p == 0 ? next
                   : float4{total.x + next.x, total.y + next.y, total.z + next.z, total.w + next.w};
      }
      sumOf(v, 0) = total.x, sumOf(v, 1) = total.y, sumOf(v, 2) = total.z, sumOf(v, 3) = total.w;
    }
  }

  /// Where piece `piece` of 16 bytes of row `row` lies in a plane, whose rows are y's; neighbours
  /// that are written or read together lie in different banks.
  static __device__ __forceinline__ int planePlace(int row, int piece) {
    constexpr int rowPieces = (weightRows ? 16 : 64) * sizeof(Result) / 16;
    if constexpr (rowPieces == 2) {
      const int place = 2 * row + piece;
      return place ^ (place >> 3 & 1);
    } else {
      return row * rowPieces + (piece ^ row % (rowPieces < 8 ? rowPieces : 8));
    }
  }

  /// Writes a warp's sums of 16 columns of B to columns `column` ... of its plane of y's elements,
  /// which stand as in y: rows of x, and in them lines of W.
  static __device__ __forceinline__ void write(uint4* plane, int column, const float* sums) {
    const int lane = threadIdx.x % 32;
    if constexpr (sizeof(Result) == 2) {
      unsigned pairs[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        pairs[i] = pairFromFloat<Result>(sums[2 * i], sums[2 * i + 1]);
      // Matrices 0 and 1 are rows 0 to 7 and 8 to 15 of A in columns 0 to 7, 2 and 3 in columns 8
      // to 15.
      const int half = lane / 8 % 2, right = lane / 16;
      uint4* to = weightRows ? plane + planePlace(column + 8 * right + lane % 8, half)
                             : plane + planePlace(8 * half + lane % 8, column / 8 + right);
      if constexpr (weightRows)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         sharedAddress(to)),
                     "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
      else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         sharedAddress(to)),
                     "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
                     : "memory");
    } else {
      float* elements = reinterpret_cast<float*>(plane);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int a = lane / 4 + j / 2 % 2 * 8, b = column + j / 4 * 8 + lane % 4 * 2 + j % 2;
        const int row = weightRows ? b : a, of = weightRows ? a : b;
        elements[4 * planePlace(row, of / 4) + of % 4] = sums[j];
      }
    }
  }

  template <typename Load, typename Store> struct Epilogue {
    Load load;
    Store store;
    const TensorMap* const (&results)[groups]; // of y, where they are mapped
    using Operands = decltype((*static_cast<Load*>(nullptr))(Group<0>(), 0, 0));
  };
  /// What `epilogue` loads of the runs of a group's y that a thread has in `width` columns of B
  /// from
  /// `firstOfB` on and 16 rows of A from `firstOfA` on.
  template <int width, typename Epilogue> struct Operands {
    typename Epilogue::Operands runs[width / 16];

    __device__ __forceinline__ void load(Epilogue& epilogue, int group, int firstOfA,
                                         int firstOfB) {
      inGroup(group, [&](auto number) {
#pragma unroll
        for (int i = 0; i < width / 16; ++i)
          at<width>(i, firstOfA, firstOfB,
                    [&](int m, int n, int, int) { runs[i] = epilogue.load(number, m, n); });
      });
    }
  };
  /// Calls body(m, n, row, run) for the `index`-th run of 8 elements of this thread: where it lies
  /// in y, and in a plane.
  template <int width, typename Body>
  static __device__ __forceinline__ void at(int index, int firstOfA, int firstOfB, Body body) {
    constexpr int runs = weightRows ? 2 : width / 8; // of a row
    const int place = 32 * index + threadIdx.x % 32, row = place / runs, run = place % runs;
    if constexpr (weightRows)
      body(firstOfB + row, firstOfA + run * 8, row, run);
    else
      body(firstOfA + row, firstOfB + run * 8, row, run);
  }

  /// Writes the sums of a warp, `width` columns of B of each product, to its planes, `chunk` of the
  /// tile's: results that are on their way to y leave them first.
  template <int width, int chunk, typename SumsOf>
  __device__ __forceinline__ void leave(SumsOf sumsOf) {
    uint4(*planes)[pieces] = shared.planes[threadIdx.x / 32];
    constexpr bool alternate = gemms == 1 && chunks % 2 == 0;
    if (mapped && threadIdx.x % 32 == 0)
      waitForReads<alternate ? 1 : 0>();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < gemms; ++i)
#pragma unroll
      for (int column = 0; column < width; column += 16)
        write(planes[planeOf(chunk, i)], column, sumsOf(i, column));
    __syncwarp();
  }
  /// The plane of product i.
  static constexpr __device__ int planeOf(int chunk, int i) {
    return mapped && gemms == 1 ? chunk % 2 : i;
  }
  /// Gives them to `epilogue.store(group, m, n, results, operands)`: results[i] is the run of 8
  /// elements of the group's product i from row m of x, line n of W on. The rows and lines may lie
  /// outside y.
  template <int width, int chunk, typename Epilogue>
  __device__ __forceinline__ void collect(int group, int firstOfA, int firstOfB,
                                          const Operands<width, Epilogue>& operands,
                                          Epilogue& epilogue) {
    uint4(*planes)[pieces] = shared.planes[threadIdx.x / 32];
    constexpr int words = sizeof(Result) / 2; // of a run
    inGroup(group, [&](auto number) {
#pragma unroll
      for (int index = 0; index < width / 16 && !(mapped && plain); ++index)
        at<width>(index, firstOfA, firstOfB, [&](int m, int n, int row, int run) {
          Packed<8, Result> results[gemms];
#pragma unroll
          for (int i = 0; i < gemms; ++i)
#pragma unroll
            for (int j = 0; j < words; ++j)
              results[i].words[j] = planes[planeOf(chunk, i)][planePlace(row, run * words + j)];
          if constexpr (mapped)
            planes[planeOf(chunk, 0)][planePlace(row, run)] =
                epilogue.store(number, m, n, results, operands.runs[index]).words[0];
          else
            epilogue.store(number, m, n, results, operands.runs[index]);
        });
      if constexpr (mapped) {
        fenceCopies();
        __syncwarp();
        if (threadIdx.x % 32 == 0)
          sendBox(*epilogue.results[decltype(number)::value], planes[planeOf(chunk, 0)], firstOfA,
                  firstOfB);
      }
    });
  }

  /// What the warpgroups do: multiply and give every run of 8 elements of y to `epilogue`.
  template <typename Epilogue> __device__ __forceinline__ void consume(Epilogue& epilogue) {
    const int group = warpOfBlock() / 4, warp = warpOfBlock() % 4;
    unsigned count = 0;
    bool own = !pingPong || group == 0;
    // A warpgroup may wait for a stage's phase only when the one before is over: in turn.
    auto takeTurn = [&](int unit) {
      if (pingPong && unit != firstUnit())
        asm volatile("bar.sync %0, %1;" ::"r"(2 + group), "n"(256) : "memory");
    };
    auto passTurn = [&](int unit) {
      if (pingPong && unit + workers() < units())
        asm volatile("bar.arrive %0, %1;" ::"r"(2 + 1 - group), "n"(256) : "memory");
    };
    for (int unit = firstUnit(); unit < units(); unit += workers()) {
      if (own) {
        int rowTile, columnTile;
        place(unit, rowTile, columnTile);
        const int ofGemms = enterGroup(rowTile, columnTile);
        const int a = firstOfA(rowTile, group, warp), b = columnTile * tileWidth;
        float sums[blocks][columns / 2];
        Operands<firstWidth, Epilogue> operands;
        takeTurn(unit);
        auto arrived = [&] {
          passTurn(unit);
          if (ownsSums())
            operands.load(epilogue, ofGemms, a, b);
        };
        if constexpr (quantised)
          multiplyPieces(sums, group, count, arrived);
        else
          multiply(sums, group, count, arrived);
        if constexpr (split > 1)
          addParts(sums);
        if (ownsSums())
          finish<0, 0>(sums, ofGemms, a, b, operands, epilogue);
      }
      own = !pingPong || !own;
      count += steps;
    }
    if (mapped && threadIdx.x % 32 == 0)
      waitForWrites();
  }

  /// The first line or row of a warp's part of a tile in its group's y, in the direction of A;
  /// block i's is 64 i further on.
  static __device__ __forceinline__ int firstOfA(int rowTile, int group, int warp) {
    const int tile = weightRows ? rowTile * lines : rowTile * rows;
    return tile + (joined ? 64 * (pingPong ? 0 : group) : firstRow(group, 0)) + 16 * warp;
  }

  /// Goes through a warp's sums in chunks of columns; what the epilogue loads for the next chunk is
  /// on its way while one is stored. `i`: the block of 64 rows; `first`: the chunk's first column;
  /// `group`: of products; `a`, `b`: where the warp's part of the tile begins in the group's y.
  template <int i, int first, typename Epilogue, typename Loaded>
  __device__ __forceinline__ void finish(const float (&sums)[blocks][columns / 2], int group, int a,
                                         int b, const Loaded& operands, Epilogue& epilogue) {
    constexpr int width = widthOf(first), next = first + width < tileWidth ? first + width : 0;
    constexpr int nextBlock = next == 0 ? i + 1 : i;
    auto sumsOf = [&](int gemm, int column) {
      return joined ? sums[gemm] + (first + column) / 2
                    : sums[i] + (gemm * lines + first + column) / 2;
    };
    constexpr int chunk = i * (tileWidth / 64) + first / 64;
    leave<width, chunk>(sumsOf);
    if constexpr (nextBlock < (joined ? 1 : blocks)) {
      Operands<widthOf(next), Epilogue> loaded;
      loaded.load(epilogue, group, a + 64 * nextBlock, b + next);
      collect<width, chunk>(group, a + 64 * i, b + first, operands, epilogue);
      finish<nextBlock, next>(sums, group, a, b, loaded, epilogue);
    } else {
      collect<width, chunk>(group, a + 64 * i, b + first, operands, epilogue);
    }
  }

  /// Before x may be read, by all threads: takes `early` stages of W on their way.
  __device__ __forceinline__ void start(const TensorMap& x, const Weights& w, int early,
                                        unsigned long long wPolicy) {
    if (threadIdx.x == 128 * consumers) {
      prefetch(x);
      if constexpr (!quantised) {
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
          for (int j = 0; j < gemms; ++j)
            prefetch(*w[i][j]);
      }
    }
    open();
    if constexpr (quantised) {
      ahead = ringPieces;
      if (bringsPieces())
        producePieces(w, 0, ahead, wPolicy);
    } else {
      ahead = min(min(early, stages), steps);
      if (threadIdx.x == 128 * consumers) {
        int rowTile, columnTile;
        place(firstUnit(), rowTile, columnTile);
        Weight ofGroup[gemms];
        selectWeights(w, enterGroup(rowTile, columnTile), ofGroup);
        for (int i = 0; i < ahead; ++i)
          bringW(ofGroup, rowTile, columnTile, i, firstStep + i, wPolicy);
      }
    }
  }

  /// All that a block does then. For the run of 8 elements of a group's y from row m, column n on,
  /// which may lie outside, `load(group, m, n)` loads what the epilogue takes beside the products,
  /// and
  /// `store(group, m, n, results, loaded)` stores them: results[i] is the run of product i;
  /// decltype(group)::value is the group's number. Where results are mapped, `store` returns them
  /// instead, and `y` are each group's maps.
  template <typename Load, typename Store>
  __device__ __forceinline__ void
  run(const TensorMap& x, const Weights& w, const TensorMap* const (&y)[groups],
      unsigned long long xPolicy, unsigned long long wPolicy, Load load, Store store) {
    if (isProducer()) {
      if constexpr (movesRegisters)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 128 * consumers)
        produce(x, w, xPolicy, wPolicy);
      if constexpr (quantised) {
        if (bringsPieces())
          producePieces(w, ahead, 1 << 30, wPolicy);
      }
    } else {
      if constexpr (movesRegisters)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      Epilogue<Load, Store> epilogue = {load, store, y};
      consume(epilogue);
    }
    close();
  }
};

} // namespace tenon
