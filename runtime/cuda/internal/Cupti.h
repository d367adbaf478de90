#ifndef TENON_RUNTIME_CUDA_INTERNAL_CUPTI_H
#define TENON_RUNTIME_CUDA_INTERNAL_CUPTI_H

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/MemoryTraffic.h"
#include "runtime/cuda/internal/Device.h"

namespace tenon::runtime::internal {

/// CUPTI's range profiler, opened at run time, as the counter of the bytes that a device's memory
/// reads and writes: the sums of `dram__bytes_read` and `dram__bytes_write` over all of its channels.
class Cupti {
public:
  /// Where CUPTI is looked for: the system's search path, then the toolkit's usual folders.
  static std::span<const std::string> defaultPaths();

  /// Opens the first of `paths` that can be, for `device`, which outlives it. NotFound if none can,
  /// FailedPrecondition if it is not CUPTI, PermissionDenied where only administrators may read the
  /// counters, else what CUPTI says.
  static absl::StatusOr<Cupti> open(std::span<const std::string> paths, const Device& device);

  Cupti(Cupti&& other) noexcept;
  Cupti& operator=(Cupti&& other) noexcept;
  ~Cupti();

  /// What memory moves while `work` runs, which leaves the device idle; it runs as often as the
  /// counters take passes. Between calls nothing is counted and nothing slowed.
  absl::StatusOr<MemoryTraffic> count(const std::function<absl::Status()>& work) const;

private:
  struct Impl;
  explicit Cupti(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_CUPTI_H
