#ifndef TENON_RUNTIME_CUDA_INTERNAL_RANDOMFILL_H
#define TENON_RUNTIME_CUDA_INTERNAL_RANDOMFILL_H

#include <string>

#include "runtime/cuda/internal/Device.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// The PTX of the kernel that makes random values, for compute capability 8.0 and above; the driver
/// compiles it.
extern const char* const randomFillPtx;

/// Fills device memory with random values, bit for bit those of `fillRandomValues`.
class RandomFill {
public:
  static absl::StatusOr<RandomFill> create(const Device& device);

  /// Starts writing the values of `range` to `destination`.
  absl::Status enqueue(const RandomRange& range, const std::string& encoding,
                       CUdeviceptr destination, CUstream stream) const;

private:
  RandomFill(const Driver& driver) : driver(&driver) {}

  const Driver* driver;
  Module module;
  CUfunction kernel = nullptr;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_RANDOMFILL_H
