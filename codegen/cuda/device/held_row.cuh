// y = x * W^T for one row of x and quantised W, sm_90 and later, where the warps of a block hold
// all of x in registers: what a block of threads does with its lines, rows of W.
#pragma once
#include "half_quants.cuh"
#include "tma.cuh"

namespace tenon {

/// What a thread (g, t) of a warp, of number 4 g + t, takes of slice `number`, of 256 elements, of
/// a run of a line of encoding E: groups 2 t and 2 t + 1 of 32 elements, an even one and an odd
/// one. `take(made, odd, i)` makes F16 factors of quants 4 i and 4 i + 2, 4 i + 1 and 4 i + 3 of
/// one of them. `product(even, odd, less)` is what both add to the line's product: `even` and `odd`
/// are dot products of x and their factors, `less` is made of the sums of x, which `Sums` keeps.
///   bytes             of a slice
///   placeOf(lane)     where the lane's 8 neighbours of x stand, in eighths of an even group, an
///                     odd one, of threads 0 to 3
///   takesNeighbours   `take` makes quants 4 i and 4 i + 1, 4 i + 2 and 4 i + 3
///   splitsGroups      factors of the second half of a group are 16 times as large
template <typename E> struct SliceOfLine;

/// Groups follow one another in a line as threads take them.
struct SliceInOrder {
  static constexpr bool splitsGroups = false, takesNeighbours = false;

  static __device__ __forceinline__ int placeOf(int lane) { return lane; }
};

/// Sums of x over both groups of a thread.
struct SliceSums {
  using Less = float2;
  float2 both;

  __device__ __forceinline__ void set(float even, float odd) { both = {even, odd}; }
  template <typename Line>
  __device__ __forceinline__ void measure(Less (&less)[2], const Line&, const Line&) const {
    less[0] = less[1] = both;
  }
};
/// The same of lines with a minimum a group, whose integers are multiplied with them on tensor
/// cores: a quarter of a sum as two BF16 numbers, within 2^-17 of it. A quarter, for each of a
/// line's four threads gets the product of all of its groups.
struct SliceMinimumSums {
  using Less = float;
  unsigned right[2];

  __device__ __forceinline__ void set(float evenSum, float oddSum) {
    const float even = 0.25f * evenSum, odd = 0.25f * oddSum;
    right[0] = pairFromFloat<BF16>(even, odd);
    right[1] = pairFromFloat<BF16>(even - __uint_as_float(right[0] << 16),
                                   odd - __uint_as_float(right[0] & 0xFFFF0000u));
  }
  template <typename Line>
  __device__ __forceinline__ void measure(Less (&less)[2], const Line& upper,
                                          const Line& lower) const {
    const unsigned a = upper.minimums(), b = lower.minimums();
    float products[4];
    multiply<BF16>(products, {a, b, a, b}, right);
    less[0] = products[0], less[1] = products[2];
  }
};

/// Blocks whose first 16 bytes are those of Q4_K and Q5_K. Factors are nibbles where they lie, as
/// subnormal numbers: 2^-24 of a quant of the even group, 2^-20 of one of the odd group.
template <typename E> struct SixBitSliceOfLine : SliceInOrder {
  static constexpr int bytes = E::blockBytes;
  static constexpr bool hasFifthBits = E::blockBytes == Q5_K::blockBytes;
  using Sums = SliceMinimumSums;

  uint4 nibbles[2], fifths[2];
  unsigned integers; ///< of both groups: bytes of scales, then of minimums
  float scale, minimum;

  __device__ __forceinline__ SixBitSliceOfLine(const unsigned char* run, int number) {
    const unsigned char* const block = run + number * bytes;
    constexpr int nibblesAt = hasFifthBits ? 48 : 16;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      nibbles[half] = *reinterpret_cast<const uint4*>(block + nibblesAt + 32 * t + 16 * half);
      if constexpr (hasFifthBits)
        fifths[half] = *reinterpret_cast<const uint4*>(block + 16 + 16 * half);
    }
    const uint4 head = *reinterpret_cast<const uint4*>(block);
    integers = sixBitPair(head, t);
    scale = toFloat(F16{static_cast<unsigned short>(head.x)});
    minimum = toFloat(F16{static_cast<unsigned short>(head.x >> 16)});
  }
  __device__ __forceinline__ void take(unsigned (&made)[2], int odd, int i) const {
    const unsigned bits = wordOf(nibbles[i / 4], i % 4);
#pragma unroll
    for (int byte = 0; byte < 2; ++byte) {
      made[byte] = (byte ? bits >> 8 : bits) & (odd ? 0x00F000F0u : 0x000F000Fu);
      if constexpr (hasFifthBits) {
        const unsigned all = wordOf(fifths[i / 4], i % 4);
        const unsigned own = (byte ? all >> 4 : all << 4) >> threadIdx.x % 4 * 2;
        made[byte] |= odd ? own << 3 & 0x01000100u : own & 0x00100010u;
      }
    }
  }
  /// As left factors: 128 and an integer, less 128.
  __device__ __forceinline__ unsigned minimums() const {
    unsigned result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(__byte_perm(integers, 0x43434343u, 0x4342u)), "r"(0x3F803F80u), "r"(0xC300C300u));
    return result;
  }
  __device__ __forceinline__ float product(float even, float odd, float less) const {
    constexpr unsigned evenUnit = 0x57000000u, oddUnit = 0x55000000u; // 2^47, 2^43 of last bits
    const float ofEven = __uint_as_float(__byte_perm(integers, evenUnit, 0x7540u)) - 0x1p47f;
    const float ofOdd = __uint_as_float(__byte_perm(integers, oddUnit, 0x7541u)) - 0x1p43f;
    return __fmaf_rn(scale, __fmaf_rn(odd, ofOdd, even * ofEven), -minimum * less);
  }
};
template <> struct SliceOfLine<Q4_K> : SixBitSliceOfLine<Q4_K> {
  using SixBitSliceOfLine::SixBitSliceOfLine;
};
template <> struct SliceOfLine<Q5_K> : SixBitSliceOfLine<Q5_K> {
  using SixBitSliceOfLine::SixBitSliceOfLine;
};

/// Factors are bytes as subnormal numbers, 2^-24 of what is 128 more than a quant.
template <> struct SliceOfLine<Q8_0> : SliceInOrder {
  static constexpr int bytes = 8 * Q8_0::blockBytes;
  using Sums = SliceSums;

  unsigned words[17]; ///< of two blocks

  __device__ __forceinline__ SliceOfLine(const unsigned char* run, int number) {
    const unsigned char* const blocks =
        run + number * bytes + threadIdx.x % 4 * (2 * Q8_0::blockBytes);
#pragma unroll
    for (int i = 0; i < 17; ++i)
      words[i] = alignedWordAt(blocks + 4 * i);
  }
  __device__ __forceinline__ void take(unsigned (&made)[2], int odd, int i) const {
    const unsigned quants = odd ? words[9 + i] : __byte_perm(words[i], words[i + 1], 0x5432u);
    QuantFactors<F16, true>::widen(made, quants ^ 0x80808080u);
  }
  __device__ __forceinline__ float product(float even, float odd, float2 sums) const {
    constexpr float unit = QuantFactors<F16, true>::inverseUnit, bias = 128.0f;
    return __fmaf_rn(toFloat(F16{static_cast<unsigned short>(words[0])}),
                     __fmaf_rn(even, unit, -bias * sums.x),
                     toFloat(F16{static_cast<unsigned short>(words[8] >> 16)}) *
                         __fmaf_rn(odd, unit, -bias * sums.y));
  }
};

/// A slice of x of type T, which a warp multiplies with 16 lines at once, as F16. A column of the
/// right factors for each group: thread (n, n / 2) has the elements of group n, the other threads
/// of column n zeros, so that the dot products of groups stay apart. Products with even groups
/// leave them in even columns, with odd groups in odd ones: thread (g, t) gets those of its own
/// groups, of lines g and g + 8.
template <typename E, typename T> struct HeldSlice {
  using Line = SliceOfLine<E>;
  static constexpr int elements = 256, halves = Line::splitsGroups ? 2 : 1;

  /// In shared memory: factors of 8 elements that follow one another, the sums of each thread t,
  /// what x is divided by.
  struct Shared {
    uint4 x[32];
    typename Line::Sums sums[4];
    float inverse;
  };

  uint2 x[8];
  typename Line::Sums sums;
  float inverse; ///< of the power of two that factors are x times

  /// Makes factors of `own`, a lane's 8 elements of x, in `shared`, and sums by products with ones;
  /// has the slice itself then.
  __device__ __forceinline__ void prepare(Shared& shared, const uint4& own) {
    constexpr unsigned ones = 0x3C003C00u;
    const int lane = threadIdx.x % 32;
    const uint2 words[2] = {{own.x, own.y}, {own.z, own.w}};
    const NarrowedInput<T, F16> input(words);
    unsigned made[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned low = input.narrow(words[i].x), high = input.narrow(words[i].y);
      made[2 * i] = Line::takesNeighbours ? low : __byte_perm(low, high, 0x5410u);
      made[2 * i + 1] = Line::takesNeighbours ? high : __byte_perm(low, high, 0x7632u);
    }
    shared.x[Line::placeOf(lane)] = {made[0], made[1], made[2], made[3]};
    shared.inverse = inverse = input.inverse;
    __syncwarp();
    recallFactors(shared);
    float all[2][4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i)
      multiplyAdd<F16>(all[i % 2], {ones, ones, ones, ones}, {x[i].x, x[i].y});
    sums.set(all[0][0] + all[1][0], all[0][1] + all[1][1]);
    if (lane < 4)
      shared.sums[lane] = sums;
    __syncwarp();
  }
  /// The slice that was prepared in `shared`.
  __device__ __forceinline__ void recall(const Shared& shared) {
    recallFactors(shared);
    sums = shared.sums[threadIdx.x % 4], inverse = shared.inverse;
  }

  /// Adds to a thread's sums of lines g and g + 8 of 16, of which slice `number` of runs that begin
  /// at `runs` and follow `pitch` bytes apart. Over a line's four threads they add up to its
  /// product.
  __device__ __forceinline__ void multiply(float (&lines)[2], const unsigned char* runs, int pitch,
                                           int number) const {
    const unsigned char* const first = runs + threadIdx.x % 32 / 4 * pitch;
    const Line upper(first, number), lower(first + 8 * pitch, number);
    float even[halves][4] = {}, odd[halves][4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      unsigned a[2][2], b[2][2];
#pragma unroll
      for (int isOdd = 0; isOdd < 2; ++isOdd)
        upper.take(a[isOdd], isOdd, i), lower.take(b[isOdd], isOdd, i);
      const int half = i * halves / 8;
      multiplyAdd<F16>(even[half], {a[0][0], b[0][0], a[0][1], b[0][1]}, {x[i].x, x[i].y});
      multiplyAdd<F16>(odd[half], {a[1][0], b[1][0], a[1][1], b[1][1]}, {x[i].x, x[i].y});
    }
    typename Line::Sums::Less less[2];
    sums.measure(less, upper, lower);
    lines[0] = __fmaf_rn(upper.product(dot(even, 0), dot(odd, 1), less[0]), inverse, lines[0]);
    lines[1] = __fmaf_rn(lower.product(dot(even, 2), dot(odd, 3), less[1]), inverse, lines[1]);
  }

private:
  /// Of both halves of a group.
  static __device__ __forceinline__ float dot(const float (&parts)[halves][4], int place) {
    return halves == 1 ? parts[0][place]
                       : __fmaf_rn(parts[halves - 1][place], 0x1p-4f, parts[0][place]);
  }
  __device__ __forceinline__ void recallFactors(const Shared& shared) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 both = t == g / 2 ? shared.x[4 * g + i] : uint4{0, 0, 0, 0};
      x[2 * i] = {both.x, both.y}, x[2 * i + 1] = {both.z, both.w};
    }
  }
};

/// A block's lines times x, in tiles of 16. A line's slices are cut into `parts` runs of
/// `segments`, a slice a warp; a unit of work is a part of a tile of one of the joined products. Of
/// short lines `groups` of `segments` warps take units in turn. One more warp brings units to a
/// ring of stages by bulk copies, a run of a line each. Warps leave their sums of a tile's lines
/// beside its stage; a group's warps take turns to add up what all have left, in the order of
/// segments. `at(line, gemm)` is where a line of a joined product begins.
///
/// `Config` has
///   Encoding     of W;
///   Input        type of x;
///   depth        elements of a line;
///   segments, parts, groups;
///   joined       products of a line;
///   joins        whether lines are of several weights one after the other;
///   stages       units on their way or waiting in shared memory, as many for each group;
///   batches      of a unit's lines, which memory is asked for one after the other;
///   onWay        batches that memory is asked for at once: x waits for what was asked for before
///                it.
template <typename Config, typename At> struct HeldRowStream : Config {
  using T = typename Config::Input;
  using Slice = HeldSlice<typename Config::Encoding, T>;
  using Config::depth, Config::segments, Config::parts, Config::groups, Config::joined;
  using Config::stages, Config::batches, Config::onWay, Config::joins;
  static constexpr int lines = 16, pieces = depth / Slice::elements;
  static constexpr int sliceBytes = Slice::Line::bytes, runBytes = segments * sliceBytes;
  /// 16 bytes more than a multiple of 128 from a line to the next, so that loads of a warp, of 4 or
  /// 16 bytes a thread, meet no bank twice.
  static constexpr int pitch = (runBytes + 111) / 128 * 128 + 16;
  static constexpr bool whole = pieces == segments * parts;
  static_assert(groups == 1 || parts == 1, "a warp has slices of its own");
  static_assert(stages % groups == 0, "a stage is one group's, which knows what it waits for");
  static constexpr int batchLines = lines / batches;

  struct alignas(128) Shared {
    unsigned char ring[stages][lines * pitch];
    BulkBarrier full[stages * batches];
    ReleaseBarrier left[stages], free[stages]; ///< all sums are there; they are added up
    typename Slice::Shared slices[groups * parts][segments];
    float partial[stages][lines][segments | 1]; ///< lines stand on other banks than the next ones
  };

  Shared& shared;
  const int firstLine, count; ///< of the block's lines
  At at;
  const int group = warpOfBlock() / segments, segment = warpOfBlock() % segments;
  unsigned long long policy = evictFirst();
  uint4 own[parts]; ///< of the warp's slices, a lane's elements
  Slice x;

  __device__ __forceinline__ HeldRowStream(unsigned char* memory, int firstLine, int lastLine,
                                           At at)
      : shared(*reinterpret_cast<Shared*>(memory)), firstLine(firstLine),
        count(lastLine - firstLine), at(at) {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int batch = 0; batch < stages * batches; ++batch)
        shared.full[batch].init();
#pragma unroll
      for (int stage = 0; stage < stages; ++stage)
        shared.left[stage].init(segments), shared.free[stage].init(1);
      fenceBarriers();
    }
    __syncthreads();
  }
  /// Whether the thread's warp brings units, and does nothing else.
  __device__ __forceinline__ bool brings() const { return warpOfBlock() == groups * segments; }
  /// Brings all units, the weights of which no kernel writes.
  __device__ __forceinline__ void bringAll() {
    int stage = 0, before = 0, asked = 0; // `before`: the oldest batch on its way
    unsigned parity = 0, parityBefore = 0;
#pragma unroll 1
    for (int unit = 0; unit < units(); ++unit) {
      if (unit >= stages)
        shared.free[stage].wait(parity ^ 1);
#pragma unroll 1
      for (int batch = 0; batch < batches; ++batch) {
        if (asked++ >= onWay) {
          shared.full[before].wait(parityBefore);
          if (++before == stages * batches)
            before = 0, parityBefore ^= 1;
        }
        bring(unit, stage, batch);
      }
      if (++stage == stages)
        stage = 0, parity ^= 1;
    }
  }
  /// Loads the warp's slices of x, which `prepare` makes factors of.
  __device__ __forceinline__ void fetch(const T* source) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(source) + threadIdx.x % 32;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      own[part] = uint4{0, 0, 0, 0};
      if (has(part))
        own[part] = vectors[32 * (part * segments + segment)];
    }
  }
  __device__ __forceinline__ void prepare() {
#pragma unroll
    for (int part = 0; part < parts; ++part)
      x.prepare(sliceOf(part), own[part]);
  }

  /// Multiplies all lines. Line l has product i in `sums` [l * joined + i], which is there once the
  /// block's threads meet.
  __device__ __forceinline__ void multiply(float* sums) {
    int stage = group, turn = segment;
    unsigned parity = 0;
    float both[2] = {};
#pragma unroll 1
    for (int unit = group; unit < units(); unit += groups) {
      const bool isLast = unit % parts + 1 == parts;
      if constexpr (parts > 1)
        x.recall(sliceOf(unit % parts));
#pragma unroll
      for (int batch = 0; batch < batches; ++batch)
        shared.full[stage * batches + batch].wait(parity);
      if (has(unit % parts))
        x.multiply(both, shared.ring[stage], pitch, segment);
      if (isLast)
        leave(both, stage);
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        shared.left[stage].arrive();
      if (turn == 0) {
        shared.left[stage].wait(parity);
        if (isLast)
          addUp(sums, unit / parts, stage);
        if (threadIdx.x % 32 == 0)
          shared.free[stage].arrive();
        turn = segments;
      }
      --turn;
      stage += groups;
      if (stage >= stages)
        stage -= stages, parity ^= 1;
    }
  }

private:
  /// Whether the warp has a slice of a part.
  __device__ __forceinline__ bool has(int part) const {
    return whole || part * segments + segment < pieces;
  }
  __device__ __forceinline__ typename Slice::Shared& sliceOf(int part) const {
    return shared.slices[group * parts + part][segment];
  }
  __device__ __forceinline__ int units() const {
    return (count + lines - 1) / lines * (joined * parts);
  }
  /// Leaves the warp's sums of a tile's lines beside `stage` and begins with new ones.
  __device__ __forceinline__ void leave(float (&both)[2], int stage) {
    const int line = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    // Two threads of four get a line's sum each.
    const float passed = __shfl_xor_sync(0xFFFFFFFFu, t % 2 == 0 ? both[1] : both[0], 1);
    float sum = (t % 2 == 0 ? both[0] : both[1]) + passed;
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
    if (t < 2)
      shared.partial[stage][line + 8 * t][segment] = sum;
    both[0] = both[1] = 0.0f;
  }
  /// Adds up what all warps have left beside `stage`: a line a lane.
  __device__ __forceinline__ void addUp(float* sums, int product, int stage) {
    const int lane = threadIdx.x % 32, line = product / joined * lines + lane;
    if (lane < lines && line < count) {
      float sum = shared.partial[stage][lane][0];
#pragma unroll
      for (int i = 1; i < segments; ++i)
        sum += shared.partial[stage][lane][i];
      sums[line * joined + product % joined] = sum;
    }
    __syncwarp();
  }
  /// Starts the copies of a batch of a unit into `stage`.
  __device__ __forceinline__ void bring(int unit, int stage, int batch) {
    const int part = unit % parts, product = unit / parts;
    const int first = product / joined * lines + batch * batchLines;
    const int there = max(0, min(batchLines, count - first));
    BulkBarrier& full = shared.full[stage * batches + batch];
    const unsigned bytes = whole ? runBytes : min(segments, pieces - part * segments) * sliceBytes;
    auto bringLine = [&](int i) {
      full.bring(shared.ring[stage] + (batch * batchLines + i) * pitch,
                 at(firstLine + first + i, product % joined) + part * runBytes, bytes, policy);
    };
    const bool issues = isElected();
    if (issues)
      full.expect(there * bytes);
    if constexpr (joins) { // threads look for the weights of lines together
      const int lane = threadIdx.x % 32;
      __syncwarp();
      if (lane < there)
        bringLine(lane);
    } else if (issues) {
      // Not unrolled: code that a block comes to for the first time arrives from memory.
#pragma unroll 1
      for (int i = 0; i < there; ++i)
        bringLine(i);
    }
    __syncwarp();
  }
};

} // namespace tenon

#include "group_slices.cuh"
