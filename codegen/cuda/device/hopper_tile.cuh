// Tiles of hopper_gemm: what a block has of a product and in shared memory, and which tiles it
// takes.
#pragma once
#include "cluster.cuh"
#include "memory.cuh"
#include "tma.cuh"

namespace tenon {

// Of block-quantised W, whose kernels include hopper_blocks.cuh, too.
template <typename E, typename T> struct BlockFactors;
template <typename E, int lines, int matrices, int pieces> struct BlockRing;

/// Where the tiles of a product lie: A of `rowTiles` tiles, B of `columnTiles`, `steps` stages of
/// K. Tiles of W are those of all groups, one group after the other. Blocks take tiles in turn in
/// bands of `band` row tiles, down the rows first, so that what runs at one time shares rows of
/// both matrices in the L2 cache.
struct TileOrder {
  int rowTiles, columnTiles, band, steps;
};

/// A block of `threads` computes tiles of A * B^T: two warpgroups multiply, thread 256 starts the
/// copies. A of the tensor cores is x and B is W, or the other way round (`weightRows`) where x has
/// so few rows that tiles of 64 of them would stay empty.
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
///   gemms                 1, or 2 that one epilogue joins: a tile has the same lines of two
///                         matrices W;
///   groups                of so many products, each of weights and an epilogue of its own;
///   rowsOfX, width(group) rows of x, and lines of each matrix W of the group;
///   wholeX, wholeW        no tile has rows outside x, or lines outside W;
///   firstTile(group)      the first tile of W that is the group's;
///   mapped                each group has one result, of type Result, that tiles are stored to by a
///                         tensor map while the next ones are multiplied;
///   plain                 it is the product itself;
///   chunk                 columns of B of each product that a warp stores at a time, 32 or 64; 64
///                         where results are mapped;
///   clusterA, clusterB    blocks of a cluster in the direction of A's and B's rows: they share B
///                         and A and each brings a part of it for all;
///   split                 blocks of a cluster that each have a part of K;
///   Encoding, ringPieces  of block-quantised W, which is then A, 256 elements of K a piece: a warp
///                         copies them, and the warpgroups make their factors of them in registers,
///                         rounded to Element. 0 pieces: W has Element, too, and comes with x.
template <typename Config> struct HopperTile : Config {
  using Element = typename Config::Element;
  using Result = typename Config::Result;
  using Config::blocks, Config::columns, Config::stages, Config::pingPong, Config::weightRows,
      Config::gemms, Config::groups, Config::mapped, Config::plain, Config::chunk, Config::clusterA,
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
  /// Rows of x in a tile, and those of a tile's that x has at most, whole swizzled ones; blocks
  /// that share them, and what each brings: copies take much longer for rows outside a matrix
  /// (docs/notebook/2026-11-29-rows-outside-a-matrix.md).
  static constexpr int tileRows = weightRows ? columns : rows;
  static constexpr int wholeRows = (Config::rowsOfX + 7) / 8 * 8;
  static constexpr int usedRows = wholeRows < tileRows ? wholeRows : tileRows;
  static constexpr int sharersOfX = weightRows ? clusterA : clusterB;
  static constexpr int shareOfX = tileRows / sharersOfX;
  static constexpr int ownRows = Config::rowsOfX < shareOfX ? Config::rowsOfX : shareOfX;
  /// What copies bring of a stage.
  static constexpr int stageBytes =
      ((quantised ? 0 : gemms * lines) + sharersOfX * ownRows) * depth * 2;
  /// Two products in two blocks of A: each block's sums are a product's.
  static constexpr bool joined = weightRows && gemms == 2;
  /// Columns of B of each product in a tile, and how many of them a warp stores at a time: a power
  /// of two, so that a thread's runs of 8 in all rows are of the same columns.
  static constexpr int tileWidth = weightRows ? columns : lines;
  static constexpr __device__ int widthOf(int first) {
    const int rest = tileWidth - first;
    return rest >= chunk ? chunk : rest >= 32 ? 32 : 16;
  }
  static constexpr int firstWidth = tileWidth >= chunk ? chunk : tileWidth >= 32 ? 32 : 16;
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

  __device__ __forceinline__ HopperTile(void* memory, TileOrder order)
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
  /// Where a tile of `size` rows of `extent` begins. The last one ends with them, so that it has
  /// rows of the tile before, too, whose results both store.
  static __device__ __forceinline__ int firstOf(int tile, int size, int extent, bool whole) {
    return whole || extent < size ? tile * size : min(tile * size, extent - size);
  }
  static __device__ __forceinline__ int firstOfX(int rowTile, int columnTile) {
    return firstOf(weightRows ? columnTile : rowTile, tileRows, Config::rowsOfX, Config::wholeX);
  }
  /// Of a group's lines of W, whole runs of results; what brings quantised ones leaves out those
  /// outside.
  static __device__ __forceinline__ int firstOfW(int rowTile, int columnTile, int group) {
    const int width = Config::width(group);
    return firstOf(weightRows ? rowTile : columnTile, lines, width,
                   Config::wholeW || quantised || width % 8 != 0);
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

  /// The row of a stage's A where block i of a warpgroup's begins.
  static __device__ __forceinline__ int firstRow(int group, int i) {
    const int own = pingPong ? 0 : group;
    return joined ? i * lines + 64 * own : (own * blocks + i) * 64;
  }
};

} // namespace tenon
