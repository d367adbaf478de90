#include "support/MappedFile.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon {

namespace {

/// The mappings that there are, for `findMappedPath`.
struct MappedRegion {
  std::atomic<const MappedFile*> owner = nullptr;
  std::atomic<const std::byte*> begin = nullptr;
  std::atomic<size_t> bytes = 0;
  std::atomic<const char*> path = nullptr;
};

/// More than a command maps at once: parts of a model, a program, an entry of a cache.
std::array<MappedRegion, 256> regions;

void addRegion(const MappedFile& file) {
  for (MappedRegion& region : regions) {
    const MappedFile* none = nullptr;
    if (!region.owner.compare_exchange_strong(none, &file))
      continue;
    region.begin = file.bytes().data();
    region.path = file.path().c_str();
    region.bytes = file.bytes().size();
    return;
  }
}

void removeRegion(const MappedFile& file) {
  for (MappedRegion& region : regions)
    if (region.owner == &file) {
      region.bytes = 0;
      region.owner = nullptr;
    }
}

absl::Status errnoStatus(const std::string& path, const char* action, int error) {
  return absl::ErrnoToStatus(error, absl::StrFormat("%s: cannot %s", path, action));
}

int64_t nanoseconds(const timespec& time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// A regular file that is open for reading.
struct OpenFile {
  int descriptor;
  FileIdentity identity;
};

absl::StatusOr<OpenFile> openRegular(const std::string& path) {
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
  std::move(closeDescriptor).Cancel();
  return OpenFile{descriptor,
                  {.device = info.st_dev,
                   .inode = info.st_ino,
                   .bytes = static_cast<uint64_t>(info.st_size),
                   .modifiedNs = nanoseconds(info.st_mtim),
                   .changedNs = nanoseconds(info.st_ctim),
                   .owner = info.st_uid,
                   .mode = info.st_mode}};
}

} // namespace

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(OpenFile file, openRegular(path));
  absl::Cleanup closeDescriptor = [&] { ::close(file.descriptor); };
  size_t size = file.identity.bytes;
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile(path, {}, file.identity));

  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (address == MAP_FAILED)
    return errnoStatus(path, "map", errno);
  // Only a hint: a file that is first read through the mapping is then cached in huge pages.
  ::madvise(address, size, MADV_HUGEPAGE);
  std::span<const std::byte> view(static_cast<const std::byte*>(address), size);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, view, file.identity));
}

absl::StatusOr<std::shared_ptr<const MappedFile>>
MappedFile::ofPieces(const std::string& name, uint64_t size, std::span<const Piece> pieces) {
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return errnoStatus(name, "allocate", errno);
  auto* begin = static_cast<std::byte*>(address);
  for (const Piece& piece : pieces)
    std::memcpy(begin + piece.offset, piece.bytes.data(), piece.bytes.size());
  ::mprotect(address, size, PROT_READ);
  return std::shared_ptr<const MappedFile>(new MappedFile(name, {begin, size}, {}));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> view,
                       const FileIdentity& identity)
    : filePath(std::move(path)), view(view), fileIdentity(identity) {
  addRegion(*this);
}

MappedFile::~MappedFile() {
  removeRegion(*this);
  if (!view.empty())
    ::munmap(const_cast<std::byte*>(view.data()), view.size());
}

absl::StatusOr<std::string> readFileStart(const std::string& path, size_t count) {
  TENON_ASSIGN_OR_RETURN(OpenFile file, openRegular(path));
  absl::Cleanup closeDescriptor = [&] { ::close(file.descriptor); };
  std::string start(count, '\0');
  ssize_t length = ::pread(file.descriptor, start.data(), count, 0);
  if (length < 0)
    return errnoStatus(path, "read", errno);
  start.resize(static_cast<size_t>(length));
  return start;
}

const char* findMappedPath(const void* address) {
  const auto* byte = static_cast<const std::byte*>(address);
  for (const MappedRegion& region : regions) {
    const std::byte* begin = region.begin;
    if (byte >= begin && byte < begin + region.bytes)
      return region.path;
  }
  return nullptr;
}

} // namespace tenon
