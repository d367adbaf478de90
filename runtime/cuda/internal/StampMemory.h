#ifndef TENON_RUNTIME_CUDA_INTERNAL_STAMPMEMORY_H
#define TENON_RUNTIME_CUDA_INTERNAL_STAMPMEMORY_H

#include <vector>

#include "runtime/BlockStamps.h"
#include "runtime/cuda/internal/Device.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// Where the blocks of a call leave their stamps: a place for each block, step after step, from the
/// beginning in every function. Steps of kernels that do not stamp have none.
class StampMemory {
public:
  StampMemory() = default;
  /// Room for the calls of `program`, whose steps are valid; none where no kernel stamps.
  /// ResourceExhausted, naming the function, where a call has more blocks than 1 GiB has places for.
  static absl::StatusOr<StampMemory> create(const Device& device, const Program& program);

  explicit operator bool() const { return static_cast<bool>(memory); }
  /// The places of a step of a kernel that stamps.
  CUdeviceptr address(size_t function, size_t step) const {
    return memory.get() + begins[function][step] * sizeof(BlockStamps);
  }
  /// Sets all places to zero on `stream`; nothing where there are none.
  absl::Status clear(const Driver& driver, CUstream stream) const;
  /// The stamps of the last call of `function`, by step and block, once `stream` has come to its end.
  absl::StatusOr<std::vector<std::vector<BlockStamps>>> read(const Driver& driver, CUstream stream,
                                                             size_t function) const;

private:
  /// By function: the place of each step's first block, and the number of places.
  std::vector<std::vector<uint64_t>> begins;
  uint64_t places = 0; ///< of the function with most
  DeviceMemory memory;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_STAMPMEMORY_H
