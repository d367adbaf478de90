// What hopper_gemm does with the sums of a tile: parts of K add up, and runs of 8 elements go
// through an epilogue to y.
#pragma once
#include "hopper_mainloop.cuh"

namespace tenon {

/// The way of a block's sums to y.
template <typename Config> struct HopperEpilogue : HopperMainloop<Config> {
  using Mainloop = HopperMainloop<Config>;
  using Mainloop::blocks, Mainloop::columns, Mainloop::rows, Mainloop::lines, Mainloop::gemms,
      Mainloop::groups, Mainloop::weightRows, Mainloop::joined, Mainloop::pingPong,
      Mainloop::mapped, Mainloop::plain, Mainloop::split, Mainloop::partBlocks;
  using Mainloop::Mainloop;
  using Mainloop::shared, Mainloop::rank, Mainloop::part, Mainloop::inGroup, Mainloop::firstRow;
  using Mainloop::tileWidth, Mainloop::widthOf, Mainloop::pieces, Mainloop::chunks,
      Mainloop::warpsOfTile, Mainloop::sumVectors;
  using typename Mainloop::Result;

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
    using Operands =
        decltype((*static_cast<Load*>(nullptr))(typename Mainloop::template Group<0>(), 0, 0));
  };
  /// What `epilogue` loads of the runs of a group's y that a thread has in `width` columns of B
  /// from `firstOfB` on and 16 rows of A from `firstOfA` on.
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

  /// The first line or row of a warp's part of a tile in its group's y, in the direction of A,
  /// where the tile begins at `first`; block i's is 64 i further on.
  static __device__ __forceinline__ int firstOfA(int first, int group, int warp) {
    return first + (joined ? 64 * (pingPong ? 0 : group) : firstRow(group, 0)) + 16 * warp;
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
};

} // namespace tenon
