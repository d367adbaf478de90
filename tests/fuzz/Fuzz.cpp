#include "tests/fuzz/Fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

/// LLVM's allocators poison memory in inlined code that the packaged archives know nothing of.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }

namespace tenon::fuzz {

MemoryFile::MemoryFile(std::span<const uint8_t> contents)
    : descriptor(::memfd_create("input", MFD_CLOEXEC)),
      filePath("/proc/self/fd/" + std::to_string(descriptor)) {
  require(descriptor >= 0, "cannot create a file in memory");
  for (size_t written = 0; written < contents.size();) {
    ssize_t count = ::write(descriptor, contents.data() + written, contents.size() - written);
    require(count > 0, "cannot write a file in memory");
    written += static_cast<size_t>(count);
  }
}

MemoryFile::~MemoryFile() { ::close(descriptor); }

void require(bool holds, std::string_view what) {
  if (holds)
    return;
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

} // namespace tenon::fuzz
