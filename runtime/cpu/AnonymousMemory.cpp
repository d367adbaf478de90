#include "runtime/cpu/AnonymousMemory.h"

#include <cerrno>
#include <cstdint>
#include <sys/mman.h>

#include "absl/strings/str_format.h"

namespace tenon::runtime {

static constexpr size_t hugePageBytes = 2 << 20;

absl::StatusOr<AnonymousMemory> AnonymousMemory::create(size_t bytes, const char* purpose) {
  AnonymousMemory memory;
  if (bytes == 0)
    return memory;
  size_t slack = bytes >= hugePageBytes ? hugePageBytes : 0; // page-aligned by itself below that
  void* address = MAP_FAILED;
  if (bytes <= SIZE_MAX - slack)
    address = ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return absl::ResourceExhaustedError(
        absl::StrFormat("cannot allocate %u bytes for %s", bytes, purpose));
  memory.mapping = {static_cast<std::byte*>(address), bytes + slack};
  size_t past = reinterpret_cast<uintptr_t>(address) % hugePageBytes;
  memory.view = memory.mapping.subspan(slack && past ? hugePageBytes - past : 0, bytes);
  if (slack) // only a hint: small pages work too
    ::madvise(memory.view.data(), memory.view.size(), MADV_HUGEPAGE);
  return memory;
}

AnonymousMemory::~AnonymousMemory() {
  if (!mapping.empty())
    ::munmap(mapping.data(), mapping.size());
}

absl::Status AnonymousMemory::clear() {
  if (!mapping.empty() && ::madvise(mapping.data(), mapping.size(), MADV_DONTNEED) != 0)
    return absl::ErrnoToStatus(errno, "cannot clear memory");
  return absl::OkStatus();
}

} // namespace tenon::runtime
