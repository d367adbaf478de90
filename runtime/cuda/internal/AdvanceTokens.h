#ifndef TENON_RUNTIME_CUDA_INTERNAL_ADVANCETOKENS_H
#define TENON_RUNTIME_CUDA_INTERNAL_ADVANCETOKENS_H

#include "runtime/cuda/internal/TokenRing.h"

namespace tenon::runtime::internal {

/// The PTX of the kernel, for compute capability 8.0 and above; the driver compiles it.
extern const char* const advanceTokensPtx;

/// Device memory of `rows` i32 each.
struct TokenPorts {
  CUdeviceptr ids = 0;
  CUdeviceptr positions = 0;
  CUdeviceptr nextIds = 0;
  uint32_t rows = 0;
  CUdeviceptr nextPositions = 0; ///< 0: those after `positions`
  CUdeviceptr tokens = 0;        ///< what the host is told
};

/// Makes what a decode step gave the input of the next: ids become the next ids, and positions the next
/// positions, or, where the step gives none, those that are not negative grow by one. Leaves the
/// tokens in a ring for the host.
class AdvanceTokens {
public:
  static absl::StatusOr<AdvanceTokens> create(const Device& device);

  /// `ring` has as many rows as `ports`.
  absl::Status enqueue(const TokenPorts& ports, const TokenRing& ring, CUstream stream) const;

private:
  AdvanceTokens(const Driver& driver) : driver(&driver) {}

  const Driver* driver;
  Module module;
  CUfunction kernel = nullptr;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_ADVANCETOKENS_H
