// GEMMs of single rows with quantised experts on tensor cores, sm_90 and later, whose depth the
// warps of a block share out: each multiplies a slice of it, up to 8 groups of 32 elements, with 16
// lines of weights at a time.
//
// The lines are two octets, which may be of different experts and have different x. Column 2 j of
// the right factor is x of the first octet where an instruction's depth is of the j-th of four
// groups, column 2 j + 1 that of the second, both are 0 elsewhere. So a group's sums stand alone:
// of thread (g, t), of number 4 g + t, results 0 and 3 are what the t-th group gives for lines g of
// both octets, and its scale follows there.
#pragma once
#include "bulk.cuh"
#include "quants.cuh"
#include "tma.cuh"

namespace tenon {

/// How a slice of a line of encoding E of `depth` elements is multiplied: thread t of four takes
/// `group(slice, t, set)` of both sets of groups. `Line(bytes, slice, t)` is what it has of a line:
/// `take(pairs, set, step)` gives elements 4 step, + 2, + 1 and + 3 of its group as factors;
/// `add(dots, totals, inverse)` what its groups add to a sum, given their products with x, times
/// `inverse`, and the sums of x.
template <typename E, int depth> struct Sliced;

template <int depth> struct Sliced<Q4_K, depth> {
  static constexpr int groups = depth / 32, slices = (groups + 7) / 8;

  static __device__ __forceinline__ int group(int slice, int t, int set) {
    return 8 * slice + 2 * t + set;
  }

  /// Quants of the second set stay in the upper halves of bytes, 16 times too large.
  struct Line {
    uint4 words[2], head;

    __device__ __forceinline__ Line(const unsigned char* line, int slice, int t) {
      const unsigned char* const block = line + slice * Q4_K::blockBytes;
      words[0] = *reinterpret_cast<const uint4*>(block + 16 + 32 * t);
      words[1] = *reinterpret_cast<const uint4*>(block + 32 + 32 * t);
      head = *reinterpret_cast<const uint4*>(block);
    }
    __device__ __forceinline__ void take(unsigned (&pairs)[2], int set, int step) const {
      const uint4& four = words[step / 4];
      const unsigned word = step % 4 == 0   ? four.x
                            : step % 4 == 1 ? four.y
                            : step % 4 == 2 ? four.z
                                            : four.w;
      const unsigned mask = set == 0 ? 0x000F000Fu : 0x00F000F0u;
      pairs[0] = word & mask, pairs[1] = word >> 8 & mask;
    }
    __device__ __forceinline__ float add(const float (&dots)[2], const float (&totals)[2],
                                         float inverse) const {
      const int t = threadIdx.x % 4;
      const unsigned select = t % 2 ? 0x7632u : 0x5410u;
      const unsigned first = __byte_perm(head.y, head.z, select);
      const unsigned last = __byte_perm(head.w, head.w >> 4, select);
      const unsigned integers =
          t < 2 ? first & 0x3F3F3F3Fu : (first >> 2 & 0x30303030u) | (last & 0x0F0F0F0Fu);
      constexpr float unit = 16777216.0f; // 2^24: the quants are bits of subnormal numbers
      const float scale = toFloat(F16{static_cast<unsigned short>(head.x)});
      const float minimum = toFloat(F16{static_cast<unsigned short>(head.x >> 16)});
      const float scaled = __fmaf_rn(byteOf(integers, 1), dots[1] * (unit / 16.0f),
                                     byteOf(integers, 0) * (dots[0] * unit));
      const float less = __fmaf_rn(byteOf(integers, 3), totals[1], byteOf(integers, 2) * totals[0]);
      return __fmaf_rn(scale * inverse, scaled, -(minimum * inverse) * less);
    }
    static __device__ __forceinline__ float byteOf(unsigned bytes, unsigned index) {
      constexpr float behind = 8388608.0f; // 2^23, whose last bits a byte is
      return __uint_as_float(__byte_perm(bytes, 0x4B000000u, 0x7540u | index)) - behind;
    }
  };
};

/// A slice of x of both octets, T, as a warp multiplies with it.
template <typename E, typename T, int depth> struct SliceOfX {
  using Format = Sliced<E, depth>;
  using Input = NarrowedInput<T, F16>;
  static constexpr int sets = 2, steps = 8;

  uint2 words[sets * steps] = {}; ///< as they lie in memory
  unsigned factors[sets][steps][2];
  float totals[2][sets]; ///< of the thread's groups of both octets
  float inverses[2];

  /// Asks for the slice; no thread waits for it.
  __device__ __forceinline__ void load(const T* first, const T* second, int slice) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const T* const source = g % 2 ? second : first;
#pragma unroll
    for (int set = 0; set < sets; ++set) {
      const int group = Format::group(slice, t, set);
      if (g / 2 == t && group < Format::groups)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint4 both = reinterpret_cast<const uint4*>(source + 32 * group)[i];
          words[set * steps + 2 * i] = {both.x, both.y};
          words[set * steps + 2 * i + 1] = {both.z, both.w};
        }
    }
  }

  /// Makes factors of what was asked for.
  __device__ __forceinline__ void prepare() {
    const int g = threadIdx.x % 32 / 4;
    const Input ofFirst(words, g % 2 == 0), ofSecond(words, g % 2 == 1);
    const Input& own = g % 2 ? ofSecond : ofFirst;
    inverses[0] = ofFirst.inverse, inverses[1] = ofSecond.inverse;
#pragma unroll
    for (int set = 0; set < sets; ++set) {
      float sums[4] = {};
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const uint2 word = words[set * steps + step];
        const unsigned low = own.narrow(word.x), high = own.narrow(word.y);
        factors[set][step][0] = __byte_perm(low, high, 0x5410u);
        factors[set][step][1] = __byte_perm(low, high, 0x7632u);
        constexpr unsigned ones = 0x3C003C00u;
        multiplyAdd<F16>(sums, {ones, ones, ones, ones},
                         {factors[set][step][0], factors[set][step][1]});
      }
      totals[0][set] = sums[0], totals[1][set] = sums[1];
    }
  }

  /// What the thread's groups give for lines g of both octets, at `first` and `second`.
  __device__ __forceinline__ void multiply(float (&sums)[2], const unsigned char* first,
                                           const unsigned char* second, int slice) const {
    const int t = threadIdx.x % 4;
    const typename Format::Line lines[2] = {{first, slice, t}, {second, slice, t}};
    constexpr int chains = 2; // of products that wait for each other
    float dots[sets][chains][4] = {};
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int set = 0; set < sets; ++set) {
        unsigned a[2], b[2];
        lines[0].take(a, set, step), lines[1].take(b, set, step);
        multiplyAdd<F16>(dots[set][step % chains], {a[0], b[0], a[1], b[1]},
                         {factors[set][step][0], factors[set][step][1]});
      }
#pragma unroll
    for (int octet = 0; octet < 2; ++octet) {
      float own[sets];
#pragma unroll
      for (int set = 0; set < sets; ++set)
        own[set] = dots[set][0][3 * octet] + dots[set][1][3 * octet];
      sums[octet] = lines[octet].add(own, totals[octet], inverses[octet]);
    }
  }
};

/// Units of 16 lines that the groups of warps of a block take in turn, a warp of a group a slice of
/// the depth, through a ring of units of each group, which bulk copies fill. `octetAt(unit, octet)`
/// are the weights that the 8 lines of an octet begin at, one after the other.
///
/// `Config` has
///   Encoding   of W;
///   Input      the type of x;
///   depth      elements of a line;
///   lineBytes  of a line; from one line's place in a ring to the next `pitch`;
///   units      of a block;
///   groups     of warps;
///   stages     units of a group on their way or waiting in shared memory.
template <typename Config> struct ExpertSlices : Config {
  using E = typename Config::Encoding;
  using Config::depth, Config::lineBytes, Config::pitch, Config::units, Config::groups;
  using Config::stages;
  using Format = Sliced<E, depth>;
  static constexpr int slices = Format::slices, lines = 16;
  static constexpr bool isWhole = pitch == lineBytes; ///< an octet is one copy
  static constexpr int copies = isWhole ? 2 : lines, issuers = slices < copies ? slices : copies;
  static constexpr int turns = (units + groups - 1) / groups;

  struct alignas(128) Shared {
    unsigned char ring[groups][stages][lines * pitch];
    float parts[units][slices][lines];
    BulkBarrier full[groups][stages];
    ReleaseBarrier empty[groups][stages];
  };

  Shared& shared;
  const int slice, group;
  unsigned long long policy = evictFirst();

  __device__ __forceinline__ explicit ExpertSlices(unsigned char* memory)
      : shared(*reinterpret_cast<Shared*>(memory)), slice(warpOfBlock() % slices),
        group(warpOfBlock() / slices) {
    if (threadIdx.x < groups * stages) {
      (&shared.full[0][0])[threadIdx.x].init(issuers);
      (&shared.empty[0][0])[threadIdx.x].init(slices);
      fenceBarriers();
    }
    __syncthreads();
  }

  /// Starts the warp's share of the copies of `turn`, a unit of its group.
  template <typename OctetAt> __device__ __forceinline__ void bring(int turn, OctetAt octetAt) {
    const int unit = group + turn * groups;
    if (threadIdx.x % 32 != 0 || slice >= issuers || unit >= units)
      return;
    const int stage = turn % stages;
    BulkBarrier& barrier = shared.full[group][stage];
    unsigned char* const target = shared.ring[group][stage];
    constexpr int ofWarp = (copies + issuers - 1) / issuers;
    constexpr int linesOfCopy = lines / copies;
    const int own = (copies - slice + issuers - 1) / issuers;
    barrier.expect(own * linesOfCopy * lineBytes);
#pragma unroll
    for (int i = 0; i < ofWarp; ++i) {
      const int line = (slice + i * issuers) * linesOfCopy;
      if (copies % issuers == 0 || line < lines)
        barrier.bring(target + line * pitch, octetAt(unit, line / 8) + line % 8 * lineBytes,
                      linesOfCopy * lineBytes, policy);
    }
  }

  /// Fills the rings for the first time.
  template <typename OctetAt> __device__ __forceinline__ void fill(OctetAt octetAt) {
#pragma unroll
    for (int turn = 0; turn < (stages < turns ? stages : turns); ++turn)
      bring(turn, octetAt);
    __syncwarp();
  }

  /// Multiplies all units of the warp's group and leaves the sums of its slice in shared memory.
  template <typename OctetAt>
  __device__ __forceinline__ void multiply(const SliceOfX<E, typename Config::Input, depth>& x,
                                           OctetAt octetAt) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      const int unit = group + turn * groups, stage = turn % stages;
      if (units % groups != 0 && unit >= units)
        break;
      const unsigned char* places[2];
#pragma unroll
      for (int octet = 0; octet < 2; ++octet)
        places[octet] = shared.ring[group][stage] + (8 * octet + g) * pitch;
      shared.full[group][stage].wait(turn / stages % 2);
      float sums[2];
      x.multiply(sums, places[0], places[1], slice);
      if (stages < turns) {
        __syncwarp();
        if (threadIdx.x % 32 == 0)
          shared.empty[group][stage].arrive();
        // The stage of the unit before: most warps have left it.
        if (turn > 0 && turn - 1 + stages < turns) {
          const int left = turn - 1;
          shared.empty[group][left % stages].wait(left / stages % 2);
          bring(left + stages, octetAt);
        }
      }
      float own = t % 2 ? sums[1] : sums[0];
      own += __shfl_xor_sync(0xFFFFFFFFu, t % 2 ? sums[0] : sums[1], 1);
      own += __shfl_xor_sync(0xFFFFFFFFu, own, 2);
      if (t < 2)
        shared.parts[unit][slice][8 * t + g] = own;
    }
  }

  /// The sum of line `line` of a unit, after all warps' slices.
  __device__ __forceinline__ float sumOf(int unit, int line) const {
    float sum = shared.parts[unit][0][line];
#pragma unroll
    for (int i = 1; i < slices; ++i)
      sum += shared.parts[unit][i][line];
    return sum;
  }
};

} // namespace tenon
