#ifndef TENON_RUNTIME_CUDA_INTERNAL_UPLOAD_H
#define TENON_RUNTIME_CUDA_INTERNAL_UPLOAD_H

#include <cstddef>
#include <span>

#include "runtime/cuda/internal/Device.h"

namespace tenon::runtime::internal {

/// Host bytes and the place in device memory that they go to.
struct UploadRange {
  std::span<const std::byte> source;
  CUdeviceptr destination = 0;
};

/// Copies every range to the device and returns when all have arrived. Several threads read (from
/// mapped files, page by page) into pinned buffers, two each: while one is copied to the device,
/// the next is filled.
absl::Status upload(const Device& device, std::span<const UploadRange> ranges);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_UPLOAD_H
