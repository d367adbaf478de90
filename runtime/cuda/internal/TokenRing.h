#ifndef TENON_RUNTIME_CUDA_INTERNAL_TOKENRING_H
#define TENON_RUNTIME_CUDA_INTERNAL_TOKENRING_H

#include <optional>

#include "runtime/cuda/internal/Device.h"

namespace tenon::runtime::internal {

/// How tokens reach the host while the device goes on: page-locked memory that a kernel stores to,
/// [slots, rows] entries of 64 bits: an id, and above it the number of its step, from 1 on. Step n
/// takes slot n − 1 modulo `slots`.
class TokenRing {
public:
  static constexpr uint32_t slots = 8;

  static absl::StatusOr<TokenRing> create(const Device& device, uint32_t rows);

  /// Forgets all entries and starts anew with step 1. Nothing that stores to the ring may be under
  /// way; what comes later on `stream` may.
  absl::Status reset(const Driver& driver, CUstream stream);

  /// The id of `row` that step `step` chose, if it is there.
  std::optional<int32_t> find(uint32_t step, uint32_t row) const;

  CUdeviceptr entries() const { return reinterpret_cast<CUdeviceptr>(memory.get()); }
  /// A u32, how many steps have ended.
  CUdeviceptr steps() const { return counter.get(); }

private:
  uint64_t bytes() const { return uint64_t{slots} * rows * sizeof(uint64_t); }

  uint32_t rows = 0;
  PinnedMemory memory;
  DeviceMemory counter;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_TOKENRING_H
