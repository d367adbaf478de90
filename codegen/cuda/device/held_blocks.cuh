// y = x * W^T for up to 16 rows of x and W in blocks of 256 elements, sm_90 and later, where the
// warps of a block hold all of x in registers, a block of W's elements of each row a warp, so that
// nothing of x is read beside W: what a block of threads does with its part of the depth.
#pragma once
#include "cluster.cuh"
#include "half_quants.cuh"
#include "tma.cuh"

namespace tenon {

/// The elements of rows g and g + 8 of x that a thread multiplies with a block of W, groups 2 t and
/// 2 t + 1 of 32, in the order that `HeldLine` has W's in: right[2 i + odd] is elements 4 i, + 2,
/// + 1 and + 3 of group 2 t + odd. The sums of both groups are kept as two BF16 numbers each, which
/// are within 2^-17 of them.
template <int rowTiles> struct HeldBlockOfX {
  unsigned right[16][rowTiles][2];
  unsigned sums[rowTiles][2];

  /// `rows` rows of x, `pitch` apart, from element k on, zeros after them. `whileWaiting` is called
  /// once all loads are on their way.
  template <typename WhileWaiting>
  __device__ __forceinline__ void load(const F16* x, int rows, int pitch, int k,
                                       WhileWaiting whileWaiting) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    // Of the thread with groups 2 i and 2 i + 1, elements 8 t to 8 t + 7 of both.
    uint4 loaded[rowTiles][4][2];
#pragma unroll
    for (int tile = 0; tile < rowTiles; ++tile) {
      const int row = 8 * tile + g;
      const uint4* const source = reinterpret_cast<const uint4*>(x + row * pitch + k) + t;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        loaded[tile][i / 2][i % 2] = row < rows ? source[4 * i] : uint4{0, 0, 0, 0};
    }
    whileWaiting();
#pragma unroll
    for (int tile = 0; tile < rowTiles; ++tile) {
      uint4(&v)[4][2] = loaded[tile];
      exchange(v[0], v[1], 1), exchange(v[2], v[3], 1);
      exchange(v[0], v[2], 2), exchange(v[1], v[3], 2);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const uint4 all = v[i / 2][i % 2];
        const int first = i / 2 * 4 + i % 2;
        interleave(right[first][tile], all.x, all.y);
        interleave(right[first + 2][tile], all.z, all.w);
      }
    }
    addUp();
  }

private:
  /// Of threads whose numbers differ in `bit`, the one without it gets the other's `low` for its
  /// `high`.
  static __device__ __forceinline__ void exchange(uint4 (&low)[2], uint4 (&high)[2], int bit) {
    const bool hasBit = threadIdx.x & bit;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      exchange(low[i].x, high[i].x, hasBit, bit), exchange(low[i].y, high[i].y, hasBit, bit);
      exchange(low[i].z, high[i].z, hasBit, bit), exchange(low[i].w, high[i].w, hasBit, bit);
    }
  }
  static __device__ __forceinline__ void exchange(unsigned& low, unsigned& high, bool hasBit,
                                                  int bit) {
    const unsigned got = __shfl_xor_sync(0xFFFFFFFFu, hasBit ? low : high, bit);
    (hasBit ? low : high) = got;
  }
  static __device__ __forceinline__ void interleave(unsigned (&to)[2], unsigned low,
                                                    unsigned high) {
    to[0] = __byte_perm(low, high, 0x5410u), to[1] = __byte_perm(low, high, 0x7632u);
  }
  /// Products of x with ones in the columns of its groups, x as the left factor: a thread gets the
  /// sums of its own groups, which are two chains of products.
  __device__ __forceinline__ void addUp() {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float all[2][4] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const unsigned ones = g == 2 * t + i % 2 ? 0x3C003C00u : 0u;
      constexpr int other = rowTiles - 1;
      const unsigned low = other > 0 ? right[i][other][0] : 0u,
                     high = other > 0 ? right[i][other][1] : 0u;
      multiplyAdd<F16>(all[i % 2], {right[i][0][0], low, right[i][0][1], high}, {ones, ones});
    }
#pragma unroll
    for (int tile = 0; tile < rowTiles; ++tile) {
      const float low = all[0][2 * tile], high = all[1][2 * tile + 1];
      sums[tile][0] = pairFromFloat<BF16>(low, high);
      sums[tile][1] = pairFromFloat<BF16>(low - __uint_as_float(sums[tile][0] << 16),
                                          high - __uint_as_float(sums[tile][0] & 0xFFFF0000u));
    }
  }
};

/// A block of encoding E of a line as a thread has it, groups 2 t and 2 t + 1: a quant times its
/// group's integer as an F16 number, 2^-24 times that, exactly, for it is below 2048. value =
/// scale * quant * integer - minimum * the group's second integer.
template <typename E> struct HeldLine {
  static constexpr bool hasFifthBits = E::blockBytes == Q5_K::blockBytes;
  static constexpr int quantsAt = hasFifthBits ? 48 : 16;

  const unsigned char* block;
  unsigned low, high; // integers of both groups, in both halves; of upper nibbles / 16
  unsigned minimums;  // second integers as BF16 numbers
  float scale, minimum;

  __device__ __forceinline__ explicit HeldLine(const unsigned char* block) : block(block) {
    const uint4 head = *reinterpret_cast<const uint4*>(block);
    const unsigned integers = sixBitPair(head, threadIdx.x % 4);
    // 1024 and an integer, 128 and an integer: what stands before it is taken off.
    const unsigned scales =
        fmaF16(__byte_perm(integers, 0x64646464u, 0x4140u), 0x2C003C00u, 0xD400E400u);
    low = __byte_perm(scales, 0u, 0x1010u), high = __byte_perm(scales, 0u, 0x3232u);
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(minimums)
        : "r"(__byte_perm(integers, 0x43434343u, 0x4342u)), "r"(0x3F803F80u), "r"(0xC300C300u));
    scale = toFloat(F16{static_cast<unsigned short>(head.x)}) * 16777216.0f;
    minimum = toFloat(F16{static_cast<unsigned short>(head.x >> 16)});
  }

  /// 16 bytes of quants, of both groups, and of their fifth bits.
  struct Quants {
    uint4 nibbles, fifths;
  };
  __device__ __forceinline__ Quants load(int half) const {
    const int t = threadIdx.x % 4;
    Quants quants;
    quants.nibbles = *reinterpret_cast<const uint4*>(block + quantsAt + 32 * t + 16 * half);
    if constexpr (hasFifthBits)
      quants.fifths = *reinterpret_cast<const uint4*>(block + 16 + 16 * half);
    return quants;
  }
  /// Elements 4 i, + 2, + 1 and + 3 of half a group, i of `word`: of the first one in made[0].
  __device__ __forceinline__ void take(unsigned (&made)[2][2], const Quants& quants,
                                       int word) const {
    const unsigned bits = wordOf(quants.nibbles, word);
    unsigned fifths = 0;
    if constexpr (hasFifthBits)
      fifths = wordOf(quants.fifths, word);
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const unsigned nibbles = odd ? bits >> 8 : bits;
      unsigned lower = nibbles & 0x000F000Fu, upper = nibbles & 0x00F000F0u;
      if constexpr (hasFifthBits) {
        const unsigned fifth = (odd ? fifths >> 4 : fifths << 4) >> threadIdx.x % 4 * 2;
        lower |= fifth & 0x00100010u, upper |= fifth << 3 & 0x01000100u;
      }
      constexpr unsigned nothing = 0x80008000u;
      made[0][odd] = fmaF16(lower, low, nothing), made[1][odd] = fmaF16(upper, high, nothing);
    }
  }
};

/// Where a block stands in its tiles: its lines of W, of one of the tile's joined products.
template <typename E, int depth> struct HeldBlockCursor {
  static constexpr int lineBytes = depth / E::blockElements * E::blockBytes;

  int tile, gemm;
  const unsigned char* lines;
  int count;

  /// Moves to the lines [first, end) of W [..., depth], a tile.
  __device__ __forceinline__ void seek(const unsigned char* weight, int first, int end) {
    lines = weight + static_cast<long long>(first) * lineBytes;
    count = end - first;
  }
};

/// Tiles of 16 lines of W, a warp of the block, or of a cluster of blocks, an element block of each
/// line. A ring of tiles is filled by bulk copies, a run of a line each. Warps leave their sums of
/// a tile in shared memory and go on; before they leave those of the next one, all of them add up
/// the sums of the tile, four threads an element, each every fourth warp's in ascending order. The
/// blocks of a cluster send each other what they have added up, of each tile 1 / cluster of the
/// elements a block, which adds these in the order of the ranks. `Seek` moves a cursor to the lines
/// of its tile and product.
///
/// `Config` has
///   Encoding     of W;
///   depth        elements of a line;
///   slices       warps of a block;
///   cluster      blocks that share out the depth;
///   rowTiles     tiles of 8 rows of x;
///   joined       products of a tile;
///   stages       products of tiles on their way or waiting in shared memory;
///   early        of these, brought before the kernel waits for the one before: what is on its way
///                then delays x;
///   received     elements that blocks of a cluster send to one of them, of all its tiles.
template <typename Config, typename Seek> struct HeldBlockStream : Config {
  using E = typename Config::Encoding;
  using Config::cluster, Config::rowTiles, Config::joined, Config::stages, Config::received;
  using Config::early, Config::depth, Config::slices;
  using Cursor = HeldBlockCursor<E, depth>;
  static constexpr int lines = 16, pieces = depth / E::blockElements;
  static constexpr int runBytes = slices * E::blockBytes;
  /// An odd number of 16 bytes from a line to the next, so that loads meet no bank twice.
  static constexpr int pitch = runBytes + (runBytes / 16 % 2 == 0 ? 16 : 0);
  /// Floats of a row of a warp's sums, and of all, which stand on other banks than the next warp's.
  static constexpr int rowPitch = 20, partFloats = 8 * rowTiles * rowPitch + 8;
  static constexpr int bufferFloats = slices * partFloats;
  static constexpr int outputs = 8 * rowTiles * lines, ofRound = 8 * slices;
  static constexpr int rounds = (outputs + ofRound - 1) / ofRound;
  static constexpr bool whole = pieces == slices * cluster;
  static_assert(rounds <= 4, "each of four threads stores a round");

  struct alignas(128) Shared {
    unsigned char ring[stages][lines * pitch];
    float parts[2][slices][partFloats];
    float received[Config::received > 0 ? Config::received : 4];
    BulkBarrier full[stages], arrived;
    ReleaseBarrier summed[2];
  };

  Shared& shared;
  const int firstTile, tiles, workers;
  const int warp = warpOfBlock();
  Seek seek;
  unsigned rank = 0;
  unsigned long long policy = evictFirst();
  // Places of the thread: of its line in a stage, and in the warps' sums of what it leaves and of
  // what it adds up. ptxas would compute them again for every tile.
  unsigned lineAt, leftAt, addedAt;

  /// Starts the first copies. `firstTile`: of the cluster, of which there are `workers`.
  __device__ __forceinline__ HeldBlockStream(unsigned char* memory, int firstTile, int tiles,
                                             int workers, Seek seek)
      : shared(*reinterpret_cast<Shared*>(memory)), firstTile(firstTile), tiles(tiles),
        workers(workers), seek(seek) {
    if constexpr (cluster > 1)
      asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
#pragma unroll
      for (int stage = 0; stage < stages; ++stage)
        shared.full[stage].init();
      shared.summed[0].init(slices), shared.summed[1].init(slices);
      if constexpr (cluster > 1) {
        shared.arrived.init();
        const int own = (tiles - firstTile + workers - 1) / workers;
        shared.arrived.expect(own * outputs * joined * static_cast<int>(sizeof(float)));
      }
      fenceBarriers();
    }
    if constexpr (cluster > 1)
      meetCluster();
    else
      __syncthreads();
    fill(0, early);
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    lineAt = keep(g * pitch + warp * E::blockBytes);
    leftAt = keep(warp * partFloats + 2 * t * rowPitch + g);
    addedAt = keep(t * partFloats + placeInPart(threadIdx.x / 4));
  }

  /// Starts the copies that follow the loads of x.
  __device__ __forceinline__ void fillRest() { fill(early, stages); }

  /// The element of its line and row at which the warp's block of elements begins; at or after the
  /// end for a warp that has none.
  __device__ __forceinline__ int begin() const {
    return (static_cast<int>(rank) * slices + warp) * E::blockElements;
  }

  /// Multiplies all tiles, once the ring is full: `store(tile, m, line, sums)` gets each sum of the
  /// joined products of row m of x and `line` of a tile once.
  template <typename Store>
  __device__ __forceinline__ void multiply(const HeldBlockOfX<rowTiles>& x, Store store) {
    float added[joined][rounds];
    int stage = 0, last = stages - 1, turn = warp;
    unsigned number = 0, parity = 0;
#pragma unroll 1
    for (int tile = firstTile; tile < tiles; tile += workers) {
#pragma unroll
      for (int gemm = 0; gemm < joined; ++gemm) {
        shared.full[stage].wait(parity);
        float sums[rowTiles][4] = {};
        if (whole || begin() < depth)
          multiplyBlock(sums, shared.ring[stage] + lineAt, x);
        if (number > 0) {
          constexpr int none = joined - 1;
          finish(added, gemm == 0 ? none : gemm - 1, gemm == 0 ? tile - workers : tile, number - 1,
                 store);
          if (turn == 0)
            bring(number - 1 + stages, last), turn = slices;
          --turn;
        }
        leave(sums, number);
        last = stage, ++number;
        if (++stage == stages)
          stage = 0, parity ^= 1;
      }
    }
    if (number > 0)
      finish(added, joined - 1, tileOf(number - 1), number - 1, store);
    if constexpr (cluster > 1)
      collect(store);
  }

private:
  static __device__ __forceinline__ unsigned keep(unsigned v) {
    asm volatile("" : "+r"(v));
    return v;
  }
  /// Fills the stages [first, end) for the first time.
  __device__ __forceinline__ void fill(int first, int end) {
#pragma unroll
    for (int stage = first; stage < end; ++stage)
      if (warp == stage % slices)
        bring(stage, stage);
  }
  /// The tile of the block's product `number`.
  __device__ __forceinline__ int tileOf(unsigned number) const {
    return firstTile + static_cast<int>(number / joined) * workers;
  }
  /// Starts the copies of product `number` of the block's tiles into `stage`, if there is one.
  __device__ __forceinline__ void bring(unsigned number, int stage) {
    Cursor cursor;
    cursor.tile = tileOf(number), cursor.gemm = number % joined;
    if (cursor.tile >= tiles)
      return;
    seek(cursor);
    const int lane = threadIdx.x % 32;
    const int first = static_cast<int>(rank) * slices;
    const unsigned bytes = whole ? runBytes : min(slices, pieces - first) * E::blockBytes;
    if (lane == 0)
      shared.full[stage].expect(cursor.count * bytes);
    __syncwarp();
    if (lane < cursor.count)
      shared.full[stage].bring(shared.ring[stage] + lane * pitch,
                               cursor.lines + lane * Cursor::lineBytes + first * E::blockBytes,
                               bytes, policy);
  }

  /// The warp's block of 16 lines times x: sums[i] holds lines g, g, g + 8, g + 8 and rows 8 i + 2
  /// t, + 1, + 0, + 1.
  __device__ __forceinline__ void multiplyBlock(float (&sums)[rowTiles][4],
                                                const unsigned char* line,
                                                const HeldBlockOfX<rowTiles>& x) {
    const HeldLine<E> upper(line), lower(line + 8 * pitch);
    constexpr int chains = rowTiles == 1 ? 2 : 1; // of products that wait for each other
    float dots[chains][rowTiles][4] = {}, less[rowTiles][4];
#pragma unroll
    for (int i = 0; i < rowTiles; ++i)
      tenon::multiply<BF16>(
          less[i], {upper.minimums, lower.minimums, upper.minimums, lower.minimums}, x.sums[i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto ofUpper = upper.load(half), ofLower = lower.load(half);
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        unsigned a[2][2], b[2][2];
        upper.take(a, ofUpper, word), lower.take(b, ofLower, word);
#pragma unroll
        for (int odd = 0; odd < 2; ++odd)
#pragma unroll
          for (int i = 0; i < rowTiles; ++i)
            multiplyAdd<F16>(dots[odd % chains][i], {a[odd][0], b[odd][0], a[odd][1], b[odd][1]},
                             x.right[2 * (4 * half + word) + odd][i]);
      }
    }
#pragma unroll
    for (int i = 0; i < rowTiles; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float dot = chains == 2 ? dots[0][i][j] + dots[chains - 1][i][j] : dots[0][i][j];
        const HeldLine<E>& of = j < 2 ? upper : lower;
        sums[i][j] = __fmaf_rn(dot, of.scale, -of.minimum * less[i][j]);
      }
  }

  /// Leaves the warp's sums of product `number` for the others.
  __device__ __forceinline__ void leave(const float (&sums)[rowTiles][4], unsigned number) {
    float* const to = shared.parts[0][0] + number % 2 * bufferFloats + leftAt;
#pragma unroll
    for (int i = 0; i < rowTiles; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        to[(8 * i + j % 2) * rowPitch + j / 2 * 8] = sums[i][j];
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      shared.summed[number % 2].arrive();
  }

  /// Where a warp's sums have an element of a tile.
  static constexpr __device__ __forceinline__ int placeInPart(int output) {
    return output / lines * rowPitch + output % lines;
  }
  /// Adds up the warps' sums of product `number`, which is number `gemm` of `tile`; after the last
  /// one of a tile stores or sends them.
  template <typename Store>
  __device__ __forceinline__ void finish(float (&added)[joined][rounds], int gemm, int tile,
                                         unsigned number, Store store) {
    shared.summed[number % 2].wait(number / 2 % 2);
    const int t = threadIdx.x % 4;
    const float* const parts = shared.parts[0][0] + number % 2 * bufferFloats;
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int output = threadIdx.x / 4 + round * ofRound;
      const float* const own =
          parts + (ofRound % lines == 0 ? addedAt + round * placeInPart(ofRound)
                                        : t * partFloats + placeInPart(output));
      float sum = 0.0f;
      if (outputs % ofRound == 0 || output < outputs) {
#pragma unroll
        for (int slice = 0; slice < slices; slice += 4)
          if (slices % 4 == 0 || slice + t < slices)
            sum += own[slice * partFloats];
      }
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
      added[gemm][round] = sum + __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
    }
    if (gemm + 1 < joined)
      return;
    if constexpr (cluster > 1)
      send(added, number / joined);
    else
      storeRound(added, tile, store);
  }
  template <typename Store>
  __device__ __forceinline__ void storeRound(const float (&added)[joined][rounds], int tile,
                                             Store store) {
    const int round = threadIdx.x % 4;
    const int output = threadIdx.x / 4 + round * ofRound;
    if (round >= rounds || output >= outputs)
      return;
    float sums[joined];
#pragma unroll
    for (int gemm = 0; gemm < joined; ++gemm) {
      sums[gemm] = added[gemm][0];
#pragma unroll
      for (int i = 1; i < rounds; ++i)
        sums[gemm] = round == i ? added[gemm][i] : sums[gemm];
    }
    store(tile, output / lines, output % lines, sums);
  }

  /// Sends the sums of the block's tile `index` to the blocks that add them, two neighbouring ones
  /// together.
  __device__ __forceinline__ void send(const float (&added)[joined][rounds], int index) {
#pragma unroll
    for (int gemm = 0; gemm < joined; ++gemm)
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        const int output = threadIdx.x / 4 + round * ofRound;
        const float sum = added[gemm][round], next = __shfl_xor_sync(0xFFFFFFFFu, sum, 4);
        if (threadIdx.x % 8 != 0 || output >= outputs)
          continue;
        const int target = output / ofBlock;
        storeAsync(
            addressIn(target, &shared.received[placeOf(index, rank, gemm) + output % ofBlock]),
            float2{sum, next}, addressIn(target, &shared.arrived));
      }
  }
  static constexpr int ofBlock = outputs / cluster; // elements of a tile that a block adds
  static __device__ __forceinline__ int placeOf(int index, int from, int gemm) {
    return ((index * cluster + from) * joined + gemm) * ofBlock;
  }
  /// Adds what the blocks of the cluster have sent, and stores.
  template <typename Store> __device__ __forceinline__ void collect(Store store) {
    shared.arrived.waitForCluster(0);
    const int own = (tiles - firstTile + workers - 1) / workers;
    for (int element = threadIdx.x; element < own * ofBlock; element += 32 * slices) {
      const int index = element / ofBlock, i = element % ofBlock;
      float sums[joined];
#pragma unroll
      for (int gemm = 0; gemm < joined; ++gemm) {
        sums[gemm] = shared.received[placeOf(index, 0, gemm) + i];
#pragma unroll
        for (int from = 1; from < cluster; ++from)
          sums[gemm] += shared.received[placeOf(index, from, gemm) + i];
      }
      const int output = static_cast<int>(rank) * ofBlock + i;
      store(firstTile + index * workers, output / lines, output % lines, sums);
    }
  }
};

} // namespace tenon
