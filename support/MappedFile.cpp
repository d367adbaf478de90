#include "support/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"

namespace tenon {

static absl::Status errnoStatus(const std::string& path, const char* action, int error) {
  return absl::ErrnoToStatus(error, absl::StrFormat("%s: cannot %s", path, action));
}

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe must fail below, not wait for a writer.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return errnoStatus(path, "open", errno);
  absl::Cleanup closeDescriptor = [&] { ::close(descriptor); };

  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return errnoStatus(path, "read the size of", errno);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrFormat("%s: expects a regular file", path));
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile(path, {}));

  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED)
    return errnoStatus(path, "map", errno);
  // Only a hint: a file that is first read through the mapping is then cached in huge pages.
  ::madvise(address, size, MADV_HUGEPAGE);
  std::span<const std::byte> view(static_cast<const std::byte*>(address), size);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, view));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> view)
    : filePath(std::move(path)), view(view) {}

MappedFile::~MappedFile() {
  if (!view.empty())
    ::munmap(const_cast<std::byte*>(view.data()), view.size());
}

} // namespace tenon
