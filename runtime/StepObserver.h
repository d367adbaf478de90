#ifndef TENON_RUNTIME_STEPOBSERVER_H
#define TENON_RUNTIME_STEPOBSERVER_H

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// The device's memory while a call stands between two steps.
class StepMemory {
public:
  virtual ~StepMemory() = default;
  /// Copies what `ref` names, an argument of a step of the call's function, to `bytes`, of
  /// `ref.bytes` bytes.
  virtual absl::Status read(const BufferRef& ref, std::span<std::byte> bytes) = 0;
  /// Copies `bytes` to what `ref` names.
  virtual absl::Status write(const BufferRef& ref, std::span<const std::byte> bytes) = 0;
};

/// Looks at a call from step to step. An error ends the call, which returns it.
class StepObserver {
public:
  virtual ~StepObserver() = default;
  /// Before step `step` of the function; what it reads is in place.
  virtual absl::Status before(size_t step, StepMemory& memory) = 0;
  /// After it has ended.
  virtual absl::Status after(size_t step, StepMemory& memory) = 0;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_STEPOBSERVER_H
