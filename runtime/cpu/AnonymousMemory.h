#ifndef TENON_RUNTIME_CPU_ANONYMOUSMEMORY_H
#define TENON_RUNTIME_CPU_ANONYMOUSMEMORY_H

#include <cstddef>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// Zeroed memory from the kernel, in huge pages where it gives them. Pages take no space before
/// they are touched.
class AnonymousMemory {
public:
  /// `bytes` bytes, aligned to 64 at least and to 2 MiB from that size on; empty for 0. Fails with
  /// ResourceExhausted, naming `purpose` and the size.
  static absl::StatusOr<AnonymousMemory> create(size_t bytes, const char* purpose);

  AnonymousMemory() = default;
  AnonymousMemory(AnonymousMemory&& other) noexcept
      : mapping(std::exchange(other.mapping, {})), view(std::exchange(other.view, {})) {}
  AnonymousMemory& operator=(AnonymousMemory&& other) noexcept {
    std::swap(mapping, other.mapping);
    std::swap(view, other.view);
    return *this;
  }
  ~AnonymousMemory();

  std::span<std::byte> bytes() const { return view; }
  /// Makes every byte zero again by giving the pages back.
  absl::Status clear();

private:
  std::span<std::byte> mapping; ///< what was mapped
  std::span<std::byte> view;    ///< the aligned part of it that was asked for
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_ANONYMOUSMEMORY_H
