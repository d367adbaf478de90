// y = x * W^T for several rows of x and block-quantised W on tensor cores, sm_80 and later: what a
// warp does with its part of the depth. W is the left factor, 16 lines of it an instruction, so
// that each quant is decoded once for all rows of x. Quants are multiplied as integers, and what
// scales and shifts a group stands after its sum.
#pragma once
#include "narrow.cuh"
#include "quants.cuh"

namespace tenon {

/// Pieces of 256 elements of a line of encoding E, in 16-byte chunks. Lines begin at multiples of
/// 16 bytes; a piece may begin after the first of 16.
template <typename E> struct BlockPiece {
  static constexpr int elements = 256, bytes = elements / E::blockElements * E::blockBytes;
  static constexpr int chunks = bytes % 16 == 0 ? bytes / 16 : (bytes + 14 + 15) / 16;

  static __device__ __forceinline__ int begin(int k) { return k / elements * bytes; }
  /// Where the chunk `index` of the piece at element k lies in the line.
  static __device__ __forceinline__ int place(int k, int index) {
    return (begin(k) & ~15) + 16 * index;
  }
  /// Bytes of the first chunk that are not the piece's.
  static __device__ __forceinline__ int skipped(int k) {
    return bytes % 16 == 0 ? 0 : begin(k) & 15;
  }
};
/// Of blocks whose quants lie apart from what scales them: those of two groups, then the chunk that
/// has both heads.
template <int together, typename Scale, GroupZero zero>
struct BlockPiece<WideIntegers<together, Scale, zero>> {
  using Encoding = WideIntegers<together, Scale, zero>;
  static constexpr int elements = 256, chunks = 9;

  static __device__ __forceinline__ int block(int k) {
    return k / Encoding::blockElements * Encoding::blockBytes;
  }
  static __device__ __forceinline__ int heads(int k) {
    return Encoding::headsAt + k % Encoding::blockElements / 128 * Encoding::headBytes;
  }
  static __device__ __forceinline__ int place(int k, int index) {
    return block(k) + (index < 8 ? k % Encoding::blockElements / 2 + 16 * index : heads(k) & ~15);
  }
  static __device__ __forceinline__ int skipped(int k) { return 0; }
};

template <typename A, typename B> constexpr bool isSame = false;
template <typename A> constexpr bool isSame<A, A> = true;

/// What a sum of products of quants with x is multiplied with, and x's own sum.
struct SumFactors {
  float scale, less;
};

/// A quad, four groups of 32 elements of a line, as a thread has it: four steps of two products
/// with tensor cores, beside 8 elements of the thread's row of x each (`load`). `sums` are the sums
/// of a quad that have factors of their own, `sumsOfStep` those that a step adds to; a step `opens`
/// or
/// `closes` the sums from `firstSum` on.
template <typename E, typename T> struct BlockQuad {
  using Format = Quants<E>;
  using Factors = typename FactorsOf<E, T>::Type;
  static constexpr bool inPlace = Format::inNibbles && Factors::takesBitsInPlace;
  static constexpr int sumsOfStep = Format::scales, sums = 4 * sumsOfStep;
  static constexpr unsigned ones = Factors::ones;
  static constexpr int stepElements = 32; ///< that all columns of a step have

  Format quants;

  /// Quad `quad` of the piece at `piece`.
  __device__ __forceinline__ BlockQuad(const unsigned char* piece, int quad)
      : quants(piece, quad, threadIdx.x % 4) {}

  static __device__ __forceinline__ bool opens(int) { return true; }
  static __device__ __forceinline__ bool closes(int) { return true; }
  static __device__ __forceinline__ int firstSum(int step) { return step * sumsOfStep; }

  /// The left factor of the products `half` of a step, as `QuantFactors` has it.
  __device__ __forceinline__ void take(unsigned (&pairs)[2], int step, int half) const {
    if constexpr (inPlace) {
      const unsigned mask = step % 2 ? 0x00F000F0u : 0x000F000Fu;
      pairs[0] = quants.nibbles(step, half) & mask;
      pairs[1] = quants.nibbles(step, half) >> 8 & mask;
    } else {
      Factors::widen(pairs, quants.word(step, half));
    }
  }
  /// The thread's elements of a row of x from the quad's first on.
  static __device__ __forceinline__ uint4 load(const T* x, int step) {
    const int t = threadIdx.x % 4;
    if constexpr (Format::inHalves) {
      const uint2 low = *reinterpret_cast<const uint2*>(x + 32 * step + 4 * t);
      const uint2 high = *reinterpret_cast<const uint2*>(x + 32 * step + 16 + 4 * t);
      return {low.x, low.y, high.x, high.y};
    } else {
      return *reinterpret_cast<const uint4*>(x + 32 * step + 8 * t);
    }
  }
  /// Of quad `quad` of the piece of a line, which lies at element k.
  static __device__ __forceinline__ void factors(SumFactors (&made)[sums],
                                                 const unsigned char* piece, int, int quad) {
    GroupFactors groups[sums];
    if constexpr (hasSixBits) {
      sixBitFactors(groups, piece, quad);
    } else {
#pragma unroll
      for (int sum = 0; sum < sums; ++sum)
        groups[sum] = Format::factors(piece, quad, sum / sumsOfStep, sum % sumsOfStep);
    }
    constexpr int offset = Format::bias + Factors::shift;
    constexpr float upper = inPlace ? 16.0f : 1.0f;
#pragma unroll
    for (int sum = 0; sum < sums; ++sum) {
      float less = groups[sum].minimum;
      if constexpr (offset != 0)
        less = __fmaf_rn(groups[sum].scale, static_cast<float>(offset), less);
      made[sum] = {groups[sum].scale *
                       (sum / sumsOfStep % 2 ? Factors::inverseUnit / upper : Factors::inverseUnit),
                   less};
    }
  }

private:
  static constexpr bool hasSixBits = isSame<E, Q4_K> || isSame<E, Q5_K>;
};
/// A quad is a group; a thread has 16 bytes of it, the lower halves of all bytes before the upper
/// ones.
template <int together, typename Scale, GroupZero zero, typename T>
struct BlockQuad<WideIntegers<together, Scale, zero>, T> {
  using Encoding = WideIntegers<together, Scale, zero>;
  using Factors = NibbleFactors<T>;
  static constexpr int sumsOfStep = 1, sums = 2;
  static constexpr unsigned ones = QuantFactors<T, false>::ones;
  static constexpr int stepElements = 0;

  uint4 quants;

  __device__ __forceinline__ BlockQuad(const unsigned char* piece, int quad)
      : quants(*reinterpret_cast<const uint4*>(piece + 64 * quad + 16 * (threadIdx.x % 4))) {}

  static __device__ __forceinline__ bool opens(int step) { return step % 2 == 0; }
  static __device__ __forceinline__ bool closes(int step) { return step % 2 == 1; }
  static __device__ __forceinline__ int firstSum(int step) { return step / 2; }

  __device__ __forceinline__ void take(unsigned (&pairs)[2], int step, int half) const {
    const unsigned word =
        step % 2 == 0 ? (half == 0 ? quants.x : quants.y) : (half == 0 ? quants.z : quants.w);
    if (step < 2)
      Factors::template widen<false>(pairs, word);
    else
      Factors::template widen<true>(pairs, word);
  }
  static __device__ __forceinline__ uint4 load(const T* x, int step) {
    return *reinterpret_cast<const uint4*>(x + 32 * (threadIdx.x % 4) + 8 * step);
  }
  static __device__ __forceinline__ void factors(SumFactors (&made)[sums],
                                                 const unsigned char* piece, int k, int quad) {
    const unsigned char* const head =
        piece + 128 + (BlockPiece<Encoding>::heads(k) & 15) + quad * Encoding::headBytes;
    const unsigned char* const block = head - Encoding::headsAt;
    const float scale = Encoding::scaleOf(block, 0);
    const float less = scale * (Factors::offset + static_cast<float>(Encoding::zeroOf(block, 0)));
    made[0] = {scale * Factors::inverseUnit, less};
    made[1] = {scale * Factors::inverseUpperUnit, less};
  }
};

/// Quads of the thread's lines g and g + 8 of each of `units` runs of 16, `pitch` bytes apart.
template <typename Quad, int units, int pitch>
struct QuadLines : QuadLines<Quad, units - 1, pitch> {
  using Before = QuadLines<Quad, units - 1, pitch>;
  Quad upper, lower;

  /// `line`: the thread's first one.
  __device__ __forceinline__ QuadLines(const unsigned char* line, int quad)
      : Before(line, quad), upper(line + (units - 1) * 16 * pitch, quad),
        lower(line + ((units - 1) * 16 + 8) * pitch, quad) {}

  __device__ __forceinline__ void take(unsigned (&pairs)[2][2], int unit, int step,
                                       int half) const {
    if (unit < units - 1)
      return Before::take(pairs, unit, step, half);
    upper.take(pairs[0], step, half);
    lower.take(pairs[1], step, half);
  }
};
template <typename Quad, int pitch> struct QuadLines<Quad, 0, pitch> {
  __device__ __forceinline__ QuadLines(const unsigned char*, int) {}
  __device__ __forceinline__ void take(unsigned (&)[2][2], int, int, int) const {}
};

/// Where a warp stands in its stream of pieces: tile, of whose lines others have the same, product
/// of the tile, place in the depth. `Config` is that of the stream.
template <typename Config> struct BlockCursor {
  using E = typename Config::Encoding;
  static constexpr int lineWarps = Config::lineWarps, warpLines = 16 * Config::units;

  int at;         // of the tiles with all parts of the rows
  int tile, gemm; // number of its lines; product
  int k, depth;   // the warp's next piece, and where the lines end
  int lineBytes;
  const unsigned char* lines; // of W that the warp has in the tile
  int last;                   // of them; negative where there are none

  /// Moves to the lines [first, end) of W [..., depth], a tile.
  __device__ __forceinline__ void seek(const unsigned char* weight, int first, int end,
                                       int length) {
    const int warp = threadIdx.x / 32;
    first += warp % lineWarps * warpLines;
    k = warp / lineWarps * BlockPiece<E>::elements, depth = length;
    lineBytes = length / E::blockElements * E::blockBytes;
    lines = weight + static_cast<long long>(first) * lineBytes;
    last = min(end - 1 - first, warpLines - 1);
  }
};

/// The pieces of W that a warp multiplies, in order: 256 elements of some lines each. Warps of a
/// block that have different lines and the same elements read these of x at about the same time;
/// the others take neighbouring pieces in turn. Blocks take tiles in turn; of each, joined products
/// one after the other. `Seek` moves a cursor to the lines of its tile and product.
///
/// `Config` has
///   Element      F16 or BF16, the type of x;
///   Encoding     of W, blocks of quants;
///   warps        of a block;
///   lineWarps    of them with different lines and the same elements;
///   units        of 16 lines that a warp has of a tile;
///   parts        tiles that have the same lines, each with other rows of x;
///   joined       products of a tile;
///   stages       pieces of a warp on their way or waiting in shared memory;
///   sums         of a piece that have factors of their own;
///   whole        whether lines are whole pieces, of whole chunks.
template <typename Config, typename Seek> struct BlockStream : Config {
  using E = typename Config::Encoding;
  using T = typename Config::Element;
  using Config::stages, Config::sums, Config::whole;
  using Config::warps, Config::lineWarps, Config::units, Config::parts, Config::joined;
  using Piece = BlockPiece<E>;
  using Quad = BlockQuad<E, T>;
  static constexpr int slices = warps / lineWarps;
  static constexpr int step = Piece::elements * slices; // from one of the warp's pieces to the next
  static constexpr int lines = 16 * units, quads = 2;
  static_assert(quads * Quad::sums <= sums, "shared memory holds the factors of a piece");
  static constexpr int pitch = (16 * Piece::chunks + 32 + 63) / 64 * 64 - 32;
  static constexpr int stageBytes = lines * pitch, factorBytes = lines * sums * sizeof(float2);
  static constexpr int bytes = stages * stageBytes + factorBytes;

  unsigned char* slots; // of this warp: [stages][lines][pitch]
  float4* scales;       // of the present piece: [sums / 2][lines], two sums each
  int tiles, workers;
  Seek seek;
  BlockCursor<Config> ahead;
  int stage = 0;
  unsigned long long policy = evictFirst();

  __device__ __forceinline__ BlockStream(unsigned char* shared, int firstTile, int tiles,
                                         int workers, Seek seek)
      : slots(shared + threadIdx.x / 32 * bytes),
        scales(reinterpret_cast<float4*>(slots + stages * stageBytes)), tiles(tiles),
        workers(workers), seek(seek) {
    ahead.at = firstTile, ahead.gemm = 0;
    find();
    for (int i = 0; i < stages; ++i)
      release();
  }

  /// Moves on to the next product of which this warp has a piece, if it does not stand in one.
  __device__ __forceinline__ void find() {
    while (ahead.at < tiles) {
      ahead.tile = ahead.at / parts;
      seek(ahead);
      if (ahead.k < ahead.depth)
        return;
      nextGemm();
    }
  }
  __device__ __forceinline__ void nextGemm() {
    if (++ahead.gemm == joined) {
      ahead.gemm = 0;
      ahead.at += workers;
    }
  }

  /// Starts the copy of the next piece into the present stage. Lines that the tile does not have
  /// and chunks after the end of a line keep what was there, which reaches no sum that is used.
  /// All threads of the warp must be done with the stage.
  __device__ __forceinline__ void release() {
    if (ahead.at < tiles) {
      const unsigned slot =
          static_cast<unsigned>(__cvta_generic_to_shared(slots)) + stage * stageBytes;
#pragma unroll
      for (int chunk = 0; chunk + 8 <= Piece::chunks; chunk += 8)
        copyChunks<8>(slot, chunk);
      constexpr int left = Piece::chunks % 8;
      if constexpr (left > 0)
        copyChunks<(left > 4 ? 8 : left > 2 ? 4 : left)>(slot, Piece::chunks - left);
      ahead.k += step;
      if (ahead.k >= ahead.depth) {
        nextGemm();
        find();
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

  /// Adds the warp's pieces of the lines of W times `rows` rows of x, `pitch` apart. sums[u][i]
  /// holds lines 16 u + g, g, g + 8, g + 8 and rows 8 i + 2 t, + 1, + 0, + 1. x of the next steps
  /// is on its way while the present one is multiplied.
  template <int rowTiles>
  __device__ __forceinline__ void multiply(float (&total)[units][rowTiles][4], const T* x, int rows,
                                           int xPitch, int depth) {
    constexpr int early = rowTiles == 1 ? 4 : 2;
    uint4 v[early][rowTiles];
    const int first = static_cast<int>(threadIdx.x) / (32 * lineWarps) * Piece::elements;
#pragma unroll
    for (int e = 0; e < early; ++e)
      loadStep(v[e], x, rows, xPitch, first, e, depth);
#pragma unroll 1
    for (int k = first; k < depth; k += step) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
      __syncwarp();
      const unsigned char* const piece = slots + stage * stageBytes + Piece::skipped(k);
      makeFactors(piece, k);
      __syncwarp();
#pragma unroll 1 // registers hold the loads of one quad
      for (int quad = 0; quad < quads; ++quad) {
        const int here = k + 128 * quad, next = quad + 1 < quads ? here + 128 : k + step;
        if (whole || here < depth)
          multiplyQuad(
              total, v, piece, quad, depth - here, [&](uint4(&target)[rowTiles], int later) {
                loadStep(target, x, rows, xPitch, later < 4 ? here : next, later % 4, depth);
              });
      }
      __syncwarp();
      release();
    }
  }

private:
  static __device__ __forceinline__ int g() { return threadIdx.x % 32 / 4; }

  /// Starts the copies of up to `count` chunks of all lines of the next piece, from `first` on.
  template <int count> __device__ __forceinline__ void copyChunks(unsigned slot, int first) {
    constexpr int together = 32 / count; // lines
    const int line = threadIdx.x % 32 / count, chunk = first + threadIdx.x % count;
    const int place = Piece::place(ahead.k, chunk);
    if (chunk >= Piece::chunks || (!whole && place >= ahead.lineBytes))
      return;
    unsigned target = slot + line * pitch + 16 * chunk;
    // The whole address in a register of the thread: ptxas 13.0 puts a part of it into a uniform
    // register, which a copy under a policy cannot encode, and makes an illegal instruction.
    asm volatile("" : "+r"(target));
    const unsigned char* const source = ahead.lines + line * ahead.lineBytes + place;
#pragma unroll
    for (int i = 0; i < (lines + together - 1) / together; ++i)
      if (line + together * i <= ahead.last)
        copyRun(target + together * i * pitch,
                source + static_cast<long long>(together * i) * ahead.lineBytes, true, policy);
  }

  /// x of a step of the quad at element k, with zeros after its rows and their ends.
  template <int rowTiles>
  __device__ __forceinline__ void loadStep(uint4 (&target)[rowTiles], const T* x, int rows,
                                           int xPitch, int k, int step, int depth) {
#pragma unroll
    for (int i = 0; i < rowTiles; ++i) {
      const int row = 8 * i + g();
      target[i] = row < rows && k + Quad::stepElements * step < depth
                      ? Quad::load(x + row * xPitch + k, step)
                      : uint4{0, 0, 0, 0};
    }
  }

  /// The factors of the lines of the present piece, at element k, to `scales`.
  __device__ __forceinline__ void makeFactors(const unsigned char* piece, int k) {
    constexpr int threadsOfLine = 32 / lines; // 2 or 1
    const int lane = threadIdx.x % 32, line = lane % lines;
#pragma unroll
    for (int i = 0; i < quads / threadsOfLine; ++i) {
      const int quad = threadsOfLine == 1 ? i : lane / lines;
      SumFactors made[Quad::sums];
      Quad::factors(made, piece + line * pitch, k, quad);
#pragma unroll
      for (int sum = 0; sum < Quad::sums; sum += 2)
        scales[(quad * Quad::sums + sum) / 2 * lines + line] = {
            made[sum].scale, made[sum].less, made[sum + 1].scale, made[sum + 1].less};
    }
  }

  /// Adds quad `quad` of the present piece, of which `left` elements are there. `load` brings x of
  /// a later step into registers that are free.
  template <int early, int rowTiles, typename Load>
  __device__ __forceinline__ void
  multiplyQuad(float (&total)[units][rowTiles][4], uint4 (&v)[early][rowTiles],
               const unsigned char* piece, int quad, int left, Load load) {
    constexpr int ofStep = Quad::sumsOfStep;
    const QuadLines<Quad, units, pitch> quants(piece + g() * pitch, quad);
    float dots[ofStep][units][rowTiles][4], ofX[ofStep][rowTiles][4];
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if (whole || Quad::stepElements * step < left) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          constexpr int separate = ofStep - 1;
          unsigned factors[units][2][2];
#pragma unroll
          for (int unit = 0; unit < units; ++unit)
            quants.take(factors[unit], unit, step, half);
#pragma unroll
          for (int i = 0; i < rowTiles; ++i) {
            const uint4 all = v[step % early][i];
            const unsigned low = half == 0 ? all.x : all.z, high = half == 0 ? all.y : all.w;
            const unsigned right[2] = {__byte_perm(low, high, 0x5410u),
                                       __byte_perm(low, high, 0x7632u)};
            const bool isFirst = Quad::opens(step) && half * (1 - separate) == 0;
            add(isFirst, ofX[half * separate][i], {Quad::ones, Quad::ones, Quad::ones, Quad::ones},
                right);
#pragma unroll
            for (int unit = 0; unit < units; ++unit)
              add(isFirst, dots[half * separate][unit][i],
                  {factors[unit][0][0], factors[unit][1][0], factors[unit][0][1],
                   factors[unit][1][1]},
                  right);
          }
        }
        if (Quad::closes(step))
          addScaled(total, dots, ofX, quad * Quad::sums + Quad::firstSum(step));
      }
      load(v[step % early], step + early);
    }
  }

  /// Adds products, to nothing where they are the first.
  static __device__ __forceinline__ void add(bool isFirst, float (&to)[4], const unsigned (&a)[4],
                                             const unsigned (&b)[2]) {
    if (isFirst)
      tenon::multiply<T>(to, a, b);
    else
      multiplyAdd<T>(to, a, b);
  }

  /// Adds the sums from `first` on, scaled.
  template <int ofStep, int rowTiles>
  __device__ __forceinline__ void addScaled(float (&total)[units][rowTiles][4],
                                            const float (&dots)[ofStep][units][rowTiles][4],
                                            const float (&ofX)[ofStep][rowTiles][4], int first) {
#pragma unroll
    for (int sum = 0; sum < ofStep; ++sum)
#pragma unroll
      for (int unit = 0; unit < units; ++unit)
#pragma unroll
        for (int line = 0; line < 2; ++line) {
          const float4 both = scales[(first + sum) / 2 * lines + 16 * unit + 8 * line + g()];
          const bool isSecond = (first + sum) % 2 != 0;
          const float scale = isSecond ? both.z : both.x, less = isSecond ? both.w : both.y;
#pragma unroll
          for (int i = 0; i < rowTiles; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) {
              float& to = total[unit][i][2 * line + j];
              to = __fmaf_rn(scale, dots[sum][unit][i][2 * line + j], to);
              to = __fmaf_rn(-less, ofX[sum][i][j], to);
            }
        }
  }
};

/// The parts of the slices of the depth in ascending order, of the warps of number `lineWarp` of
/// `lineWarps` (storeParts).
template <int rowTiles, int slices, int lineWarps>
__device__ __forceinline__ float sumSlices(const float* parts, int lineWarp, int m, int column) {
  float sum = parts[partPlace<rowTiles>(lineWarp, m, column)];
#pragma unroll
  for (int slice = 1; slice < slices; ++slice)
    sum += parts[partPlace<rowTiles>(slice * lineWarps + lineWarp, m, column)];
  return sum;
}

} // namespace tenon
