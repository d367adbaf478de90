// y = x * W^T of an expert for the rows that chose it, on tensor cores, sm_80 and later.
#pragma once
#include "e2m1_quants.cuh"
#include "k_quants.cuh"
#include "mma.cuh"
#include "small_quants.cuh"

namespace tenon {

/// A line in global memory as the format of its quants takes it.
template <typename E> struct LineInMemory {
  static __device__ __forceinline__ const unsigned char* at(const unsigned char* bytes) {
    return bytes;
  }
};
template <> struct LineInMemory<MXFP4> {
  static __device__ __forceinline__ UnalignedLine at(const unsigned char* bytes) {
    const unsigned skipped = static_cast<unsigned>(reinterpret_cast<unsigned long long>(bytes)) & 3;
    return {bytes - skipped, skipped};
  }
};

/// Values of four quants of encoding E.
template <typename E> struct QuadValues {
  static __device__ __forceinline__ void make(float (&values)[4], unsigned word,
                                              GroupFactors factors) {
    constexpr float behind = 8388608.0f; // 2^23, whose last bits a byte is
    const float less =
        __fmaf_rn(factors.scale, static_cast<float>(Quants<E>::bias), factors.minimum);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned number = __byte_perm(word, 0x4B000000u, 0x7540u | static_cast<unsigned>(i));
      values[i] = __fmaf_rn(factors.scale, __uint_as_float(number) - behind, -less);
    }
  }
};
template <> struct QuadValues<MXFP4> {
  static __device__ __forceinline__ void make(float (&values)[4], unsigned word,
                                              GroupFactors factors) {
    unsigned pairs[2];
    E2M1Factors<F16>::widen(pairs, word);
    const float scale = factors.scale * E2M1Factors<F16>::inverseUnit;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      values[i] = scale * toFloat(F16{static_cast<unsigned short>(pairs[i])});
      values[i + 2] = scale * toFloat(F16{static_cast<unsigned short>(pairs[i] >> 16)});
    }
  }
};

/// A block of 256 threads computes tileRows x 128 of y as TensorGemm does, of rows of x that lie
/// anywhere and 128 lines of weights of encoding E, which are those of two matrices where two GEMMs
/// are joined: of each warp's 32 columns the first 16 are the first one's, the others the second
/// one's at the same places.
///
/// Weights of type T come by asynchronous copies; of others each thread makes T, rounded once, of
/// the 16 elements of a stage that it would copy, while the stages before are multiplied. With
/// `quads` it has the quants of four groups of 32 elements of its lines, and of the next four, in
/// registers (`Quants`).
template <typename T, typename E, int tileRows, int joined, bool quads>
struct ExpertGemm : TensorGemm<T, tileRows> {
  using Base = TensorGemm<T, tileRows>;
  using Base::copiedRows, Base::ofX, Base::rowBytes, Base::stageBytes, Base::ringBytes;
  using Base::tileColumns, Base::depth, Base::stages, Base::copies;
  static constexpr int ofW = copies - ofX, width = 8;

  unsigned char* const memory;

  __device__ __forceinline__ explicit ExpertGemm(unsigned char* memory)
      : Base(memory), memory(memory) {}

  /// The GEMM that a line of a tile is of, and its column.
  static __device__ __forceinline__ int gemmOf(int line) { return joined == 1 ? 0 : line / 16 % 2; }
  static __device__ __forceinline__ int columnOf(int line) {
    return joined == 1 ? line : line / 32 * 16 + line % 16;
  }

  /// `rowOf(i)` is where the i-th row of x of the tile begins, `weightOf(gemm)` a matrix, of which
  /// line `lineOf(column)` is that of a column of the tile. All have `length` elements, a multiple
  /// of 8. All threads of the block must be done with the ring.
  template <int length, typename RowOf, typename WeightOf, typename LineOf>
  __device__ __forceinline__ void multiply(RowOf rowOf, WeightOf weightOf, LineOf lineOf) {
    const int column = threadIdx.x % 4 * width, first = threadIdx.x / 4;
#pragma unroll
    for (int i = 0; i < tileRows / 32; ++i)
#pragma unroll
      for (int j = 0; j < Base::columnTiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          this->sums[i][j][e] = 0.0f;
    const int inRows = column < length ? column : 0;
    this->left = length - column;
#pragma unroll
    for (int i = 0; i < ofX; ++i)
      this->sources[i] = rowOf(first + i * copiedRows) + inRows;
    const void* matrices[ofW];
    long long lines[ofW];
#pragma unroll
    for (int i = 0; i < ofW; ++i) {
      const int line = first + i * copiedRows;
      matrices[i] = weightOf(gemmOf(line));
      lines[i] = lineOf(columnOf(line));
      if constexpr (isCopied)
        this->sources[ofX + i] =
            reinterpret_cast<const T*>(matrices[i]) + lines[i] * length + inRows;
    }
    if constexpr (isCopied)
      run<length>([](int, int) {}, [](unsigned) {});
    else if constexpr (quads && length >= 4 * depth)
      runQuads<length>(matrices, lines);
    else
      runElements<length>(matrices, lines);
  }

private:
  template <typename A, typename B> static constexpr bool same = false;
  template <typename A> static constexpr bool same<A, A> = true;
  static constexpr bool isCopied = same<T, E>;

  /// Multiplies all stages; `make(k, tile)` makes factors of the stage at element k, the one of
  /// number `tile` of four, `put(stage)` stores them.
  template <int length, typename Make, typename Put>
  __device__ __forceinline__ void run(Make make, Put put) {
    constexpr int ofStage = isCopied ? copies : ofX, count = (length + depth - 1) / depth;
#pragma unroll
    for (int stage = 0; stage < stages - 1; ++stage) {
      this->template fetch<ofStage>(stage * stageBytes);
      make(stage * depth, stage);
      put(stage * stageBytes);
    }
    unsigned read = 0, written = (stages - 1) * stageBytes;
#pragma unroll 1
    for (int begin = 0; begin < count; begin += 4)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (count % 4 != 0 && begin + i >= count)
          break;
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        this->template fetch<ofStage>(written);
        make((begin + i + stages - 1) * depth, (i + stages - 1) % 4);
        this->multiplyStage(read);
        put(written);
        written = read;
        read = read == ringBytes - stageBytes ? 0 : read + stageBytes;
      }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }

  /// Where the thread's factors of line i of a stage stand.
  __device__ __forceinline__ unsigned char* placeOf(unsigned stage, int i) const {
    return memory + stage +
           (tileRows + static_cast<int>(threadIdx.x) / 4 + i * copiedRows) * rowBytes;
  }
  static __device__ __forceinline__ uint2 packed(const float* values) {
    return {pairFromFloat<T>(values[0], values[1]), pairFromFloat<T>(values[2], values[3])};
  }
  /// Elements k + 8 t to k + 8 t + 7 of a line.
  template <int length>
  static __device__ __forceinline__ void decode(uint2 (&made)[2], const void* matrix,
                                                long long line, int k) {
    const int at = k + threadIdx.x % 4 * width;
    float values[width] = {};
    if (at < length)
      decodeRow<E>(values, matrix, line, length, at);
    made[0] = packed(values), made[1] = packed(values + 4);
  }

  template <int length>
  __device__ __forceinline__ void runElements(const void* const (&matrices)[ofW],
                                              const long long (&lines)[ofW]) {
    uint2 made[ofW][2];
    auto make = [&](int k, int) {
#pragma unroll
      for (int i = 0; i < ofW; ++i)
        decode<length>(made[i], matrices[i], lines[i], k);
    };
    auto put = [&](unsigned stage) {
#pragma unroll
      for (int i = 0; i < ofW; ++i)
        *reinterpret_cast<uint4*>(placeOf(stage, i) + threadIdx.x % 4 * 16) = {
            made[i][0].x, made[i][0].y, made[i][1].x, made[i][1].y};
    };
    run<length>(make, put);
  }

  template <int length>
  __device__ __forceinline__ void runQuads(const void* const (&matrices)[ofW],
                                           const long long (&lines)[ofW]) {
    using Format = Quants<E>;
    constexpr int quad = 4 * depth, whole = length / quad;
    static_assert(sizeof(T) == 2 && depth == 32, "a stage is a group");
    const int t = threadIdx.x % 4;
    auto lineAt = [&](int i) {
      return LineInMemory<E>::at(static_cast<const unsigned char*>(matrices[i]) +
                                 lines[i] * RowBytes<E>::of(length));
    };
    auto quantsAt = [&](int i, int number) { return Format(lineAt(i), min(number, whole - 1), t); };
    Format now[ofW] = {quantsAt(0, 0), quantsAt(1, 0)},
           next[ofW] = {quantsAt(0, 1), quantsAt(1, 1)};
    uint2 made[ofW][2];
    auto make = [&](int k, int tile) {
      if (tile == 0 && k > 0) {
#pragma unroll
        for (int i = 0; i < ofW; ++i)
          now[i] = next[i], next[i] = quantsAt(i, k / quad + 1);
      }
#pragma unroll
      for (int i = 0; i < ofW; ++i) {
        if (length % quad != 0 && k >= whole * quad) {
          decode<length>(made[i], matrices[i], lines[i], k);
          continue;
        }
        GroupFactors factors[Format::scales];
#pragma unroll
        for (int half = 0; half < Format::scales; ++half)
          factors[half] = Format::factors(lineAt(i), min(k / quad, whole - 1), tile, half);
#pragma unroll
        for (int step = 0; step < 2; ++step) {
          float values[4];
          QuadValues<E>::make(values, now[i].word(tile, step), factors[step % Format::scales]);
          made[i][step] = packed(values);
        }
      }
    };
    auto put = [&](unsigned stage, int k) {
#pragma unroll
      for (int i = 0; i < ofW; ++i) {
        const bool apart = Format::inHalves && (length % quad == 0 || k < whole * quad);
        unsigned char* const place = placeOf(stage, i) + t * (apart ? 8 : 16);
        *reinterpret_cast<uint2*>(place) = made[i][0];
        *reinterpret_cast<uint2*>(place + (apart ? 32 : 8)) = made[i][1];
      }
    };
    int last = 0; // the element of the stage made last
    run<length>([&](int k, int tile) { make(k, tile), last = k; },
                [&](unsigned stage) { put(stage, last); });
  }
};

/// Lists the pairs of a row and an expert among `ids` from `first` to `end` that `expert` takes
/// part in; those of no expert, as complements, are the first one's. Returns how many there are.
/// All threads of the block.
template <int threads>
__device__ __forceinline__ int listPairs(int* listed, int& found, const int* ids, int first,
                                         int end, int expert, int experts) {
  if (threadIdx.x == 0)
    found = 0;
  __syncthreads();
#pragma unroll 4
  for (int i = first + static_cast<int>(threadIdx.x); i < end; i += threads) {
    const int id = ids[i];
    const bool exists = id >= 0 && id < experts;
    if (exists ? id == expert : expert == 0)
      listed[atomicAdd(&found, 1)] = exists ? i : ~i;
  }
  __syncthreads();
  return found;
}

} // namespace tenon
