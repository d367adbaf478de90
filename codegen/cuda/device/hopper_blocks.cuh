// Block-quantised W of hopper_gemm: pieces of its lines in a ring, which a warp fills, and the
// factors that warpgroups make of them in registers.
#pragma once
#include "bulk.cuh"
#include "half_quants.cuh"
#include "pair_quants.cuh"
#include "tma.cuh"

namespace tenon {

/// Pieces of 256 elements of a line of encoding E, in 16-byte chunks. Lines begin at multiples of
/// 16 bytes; a piece may begin after the first byte of its first chunk.
template <typename E> struct LinePiece {
  static constexpr int elements = 256, bytes = elements / E::blockElements * E::blockBytes;
  static constexpr int chunks = bytes % 16 == 0 ? bytes / 16 : (bytes + 14 + 15) / 16;
  /// From a line's piece to the next line's: an odd number of chunks, so that the threads of a
  /// warp, who read eight lines at once, meet different banks.
  static constexpr int pitch = 16 * (chunks | 1);
  static_assert(elements % E::blockElements == 0, "whole blocks");

  /// Where piece `piece` of a line begins.
  static __device__ __forceinline__ int begin(int piece) { return piece * bytes; }
  /// Bytes of its first chunk that are not its own.
  static __device__ __forceinline__ int skipped(int piece) {
    return bytes % 16 == 0 ? 0 : begin(piece) & 15;
  }
};

/// Left factors of warpgroups, of type T, of lines of encoding E, made in f32. `Table` is what a
/// warp knows of a piece of its 16 lines: what numbers are multiplied with, and what is then taken
/// from them.
template <typename E, typename T> struct FactorsInFloat {
  using Quants = PairQuants<E>;
  static constexpr int sums = Quants::sums, lines = 16;
  struct Table {
    float2 of[sums > 0 ? sums : 1][lines];
  };

  /// By all threads of the warp, of the lines `pitch` bytes apart from `piece` on.
  static __device__ __forceinline__ void fill(Table& table, const unsigned char* piece, int pitch) {
    if constexpr (sums > 0) {
      using Numbers = QuantNumbers<Quants::wide>;
      const int line = threadIdx.x % lines, half = threadIdx.x % 32 / lines;
      GroupFactors made[sums / 2];
      Quants::factors(made, piece + line * pitch, half);
#pragma unroll
      for (int i = 0; i < sums / 2; ++i)
        table.of[half * (sums / 2) + i][line] = {
            made[i].scale * Numbers::unit,
            __fmaf_rn(made[i].scale, Numbers::offset + static_cast<float>(Quants::bias),
                      made[i].minimum)};
    }
  }
  /// What a thread takes of a pair of groups of 32 of a line: quants, and what numbers become
  /// values with.
  struct Pair {
    typename Quants::Raw raw;
    float2 factors[sums > 0 ? sums / 4 : 1];

    /// Of pair `pair` of line `line`, whose piece is `piece`.
    __device__ __forceinline__ void load(const Table& table, const unsigned char* piece, int line,
                                         int pair) {
      raw = Quants::load(piece, pair, threadIdx.x % 4);
#pragma unroll
      for (int i = 0; i < sums / 4; ++i)
        factors[i] = table.of[pair * (sums / 4) + i][line];
    }
    /// Elements 2 t, + 1 and + 8, + 9 of half `half` of the pair's first group or its second one.
    __device__ __forceinline__ void take(unsigned (&pairs)[2], const unsigned char* piece, int pair,
                                         int odd, int half) const {
      if constexpr (sums > 0) {
        using Numbers = QuantNumbers<Quants::wide>;
        const float2 of = factors[sums == 8 ? odd : 2 * odd + half];
        const unsigned quants = Quants::quants(raw, pair, odd, half);
        float values[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          values[i] = __fmaf_rn(Numbers::number(quants, i), of.x, -of.y);
        pairs[0] = pairFromFloat<T>(values[0], values[1]);
        pairs[1] = pairFromFloat<T>(values[2], values[3]);
      } else {
        const int first = 64 * pair + 32 * odd + 16 * half + 2 * (threadIdx.x % 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float values[2];
          E::decode(values, piece, first + 8 * i);
          pairs[i] = pairFromFloat<T>(values[0], values[1]);
        }
      }
    }
  };
};

/// The same of type F16 in arithmetic of 16 bits, which takes fewer instructions.
template <typename E> struct FactorsInHalves {
  using Quants = HalfQuants<E>;
  using Factors = typename Quants::Factors;
  static constexpr int sums = Quants::sums, lines = 16;
  struct Table {
    Factors of[sums][lines];
  };

  static __device__ __forceinline__ void fill(Table& table, const unsigned char* piece, int pitch) {
    const int line = threadIdx.x % lines, half = threadIdx.x % 32 / lines;
    Factors made[sums / 2];
    Quants::fill(made, piece + line * pitch, half);
#pragma unroll
    for (int i = 0; i < sums / 2; ++i)
      table.of[half * (sums / 2) + i][line] = made[i];
  }
  struct Pair {
    typename Quants::Raw raw;
    Factors factors[sums / 4];

    __device__ __forceinline__ void load(const Table& table, const unsigned char* piece, int line,
                                         int pair) {
      raw = Quants::load(piece, pair, threadIdx.x % 4);
#pragma unroll
      for (int i = 0; i < sums / 4; ++i)
        factors[i] = table.of[pair * (sums / 4) + i][line];
    }
    __device__ __forceinline__ void take(unsigned (&pairs)[2], const unsigned char*, int pair,
                                         int odd, int half) const {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        pairs[i] = Quants::value(Quants::number(raw, pair, odd, half, i),
                                 factors[sums == 8 ? odd : 2 * odd + half], pair, odd, half);
    }
  };
};
template <typename E, typename T, bool inHalves = HalfQuants<E>::sums != 0> struct FactorsOf16 {
  using Type = FactorsInFloat<E, T>;
};
template <typename E> struct FactorsOf16<E, F16, true> {
  using Type = FactorsInHalves<E>;
};
template <typename E, typename T> struct BlockFactors : FactorsOf16<E, T>::Type {};

/// Pieces of `lines` lines of W in shared memory, `pieces` of them on their way or waiting: a warp
/// brings them, the warps of warpgroups take them. `matrices` have as many lines each of a tile.
template <typename E, int lines, int matrices, int pieces> struct BlockRing {
  using Piece = LinePiece<E>;
  static constexpr int ofMatrix = lines / matrices;
  struct alignas(16) Shared {
    unsigned char bytes[pieces][lines * Piece::pitch];
    ReleaseBarrier full[pieces], empty[pieces];
  };

  /// `takers`: warps that take each piece.
  static __device__ __forceinline__ void open(Shared& shared, int takers) {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      shared.full[i].init(32);
      shared.empty[i].init(takers);
    }
  }
  /// Starts the copies of piece `piece` of lines `first` ... of each matrix of `count` lines of
  /// `lineBytes`, by all threads of a warp. Lines after the matrix keep what was there, which
  /// reaches no result that is stored.
  static __device__ __forceinline__ void bring(Shared& shared, int slot,
                                               const unsigned char* const (&matrix)[matrices],
                                               int first, int count, int lineBytes, int piece,
                                               unsigned long long policy) {
    const unsigned target = sharedAddress(shared.bytes[slot]);
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      const unsigned char* const source =
          matrix[i] + static_cast<long long>(first) * lineBytes + (Piece::begin(piece) & ~15);
#pragma unroll
      for (int chunk = 0; chunk + 8 <= Piece::chunks; chunk += 8)
        bringChunks<8>(target + i * ofMatrix * Piece::pitch, source, chunk, count - first,
                       lineBytes, Piece::begin(piece) & ~15, policy);
      constexpr int left = Piece::chunks % 8;
      if constexpr (left > 0)
        bringChunks<(left > 4   ? 8
                     : left > 2 ? 4
                                : left)>(target + i * ofMatrix * Piece::pitch, source,
                                         Piece::chunks - left, count - first, lineBytes,
                                         Piece::begin(piece) & ~15, policy);
    }
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     sharedAddress(&shared.full[slot].state))
                 : "memory");
  }

private:
  /// Up to `together` chunks of all lines of a matrix from chunk `chunk` on.
  template <int together>
  static __device__ __forceinline__ void bringChunks(unsigned target, const unsigned char* source,
                                                     int chunk, int there, int lineBytes, int place,
                                                     unsigned long long policy) {
    constexpr int step = 32 / together; // lines
    const int line = threadIdx.x % 32 / together;
    chunk += threadIdx.x % together;
    if (chunk >= Piece::chunks || place + 16 * chunk >= lineBytes)
      return;
    unsigned to = target + line * Piece::pitch + 16 * chunk;
    // The whole address in a register of the thread: ptxas 13.0 puts a part of it into a uniform
    // register, which a copy under a policy cannot encode, and makes an illegal instruction.
    asm volatile("" : "+r"(to));
    const unsigned char* from = source + static_cast<long long>(line) * lineBytes + 16 * chunk;
#pragma unroll 4
    for (int i = 0; i < ofMatrix / step; ++i) {
      if (line + i * step < there)
        copyRun(to, from, true, policy);
      to += step * Piece::pitch;
      asm volatile("" : "+r"(to));
      from += static_cast<long long>(step) * lineBytes;
    }
  }
};

} // namespace tenon
