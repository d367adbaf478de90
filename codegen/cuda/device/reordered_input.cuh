// x in another order for held_row.cuh.
#pragma once
#include "held_row.cuh"

namespace tenon {

/// Where the elements of a warp's slices stand in an x that lies in shared memory in another order,
/// for a HeldRowStream: element `order[k]` of x is element k of the slices, 0 where x has none. The
/// places are asked for before x is there; elements are taken one at a time, where those of a warp
/// may meet on banks.
template <typename Stream> struct ReorderedInput {
  using T = typename Stream::T;

  static constexpr unsigned none = ~0u;

  uint4 places[Stream::parts][2];

  __device__ __forceinline__ void load(const Stream& stream, const int* order) {
#pragma unroll
    for (int part = 0; part < Stream::parts; ++part) {
      const int slice = part * Stream::segments + stream.segment;
      const uint4* const own = reinterpret_cast<const uint4*>(order) + 64 * slice;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        places[part][i] =
            slice < Stream::pieces ? own[threadIdx.x % 32 * 2 + i] : uint4{none, none, none, none};
    }
  }
  /// As HeldRowStream::fetch.
  __device__ __forceinline__ void fetch(Stream& stream, const T* source) const {
#pragma unroll
    for (int part = 0; part < Stream::parts; ++part)
      stream.own[part] = {pair(source, places[part][0].x, places[part][0].y),
                          pair(source, places[part][0].z, places[part][0].w),
                          pair(source, places[part][1].x, places[part][1].y),
                          pair(source, places[part][1].z, places[part][1].w)};
  }

private:
  static __device__ __forceinline__ unsigned bitsAt(const T* source, unsigned place) {
    return place < Stream::depth ? source[place].bits : 0u;
  }
  static __device__ __forceinline__ unsigned pair(const T* source, unsigned low, unsigned high) {
    return bitsAt(source, low) | bitsAt(source, high) << 16;
  }
};

} // namespace tenon
