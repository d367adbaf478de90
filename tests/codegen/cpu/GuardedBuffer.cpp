#include "tests/codegen/cpu/GuardedBuffer.h"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace tenon::tests {

static constexpr std::byte sentinel{0xa5};

GuardedBuffer::GuardedBuffer(size_t bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t sentinelBytes = 256;
  size_t used = (bytes + sentinelBytes + page - 1) / page * page;
  void* address =
      mmap(nullptr, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED || mprotect(static_cast<std::byte*>(address) + used, page, PROT_NONE))
    std::abort();
  mapping = {static_cast<std::byte*>(address), used + page};
  view = mapping.subspan(used - bytes, bytes);
  sentinels = mapping.subspan(used - bytes - sentinelBytes, sentinelBytes);
  std::ranges::fill(sentinels, sentinel);
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping.data(), mapping.size()); }

bool GuardedBuffer::isIntact() const {
  return std::ranges::all_of(sentinels, [](std::byte value) { return value == sentinel; });
}

} // namespace tenon::tests
