#include "support/OutputFile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon {

namespace {

/// The names of unfinished files, for `removeTemporaryFiles`. A slot never gives back its memory,
/// so that a handler may read it at any time.
struct TemporaryName {
  std::atomic<bool> taken = false;  ///< by an OutputFile
  std::atomic<bool> exists = false; ///< the name is complete and its file is there
  std::array<char, PATH_MAX> name = {};
};

/// More files at once than any command writes; further ones are only not removed by handlers.
std::array<TemporaryName, 16> temporaryNames;

int rememberTemporary(const std::string& name) {
  for (size_t slot = 0; slot < temporaryNames.size(); ++slot) {
    TemporaryName& place = temporaryNames[slot];
    if (name.size() >= place.name.size() || place.taken.exchange(true))
      continue;
    std::memcpy(place.name.data(), name.c_str(), name.size() + 1);
    place.exists = true;
    return static_cast<int>(slot);
  }
  return -1;
}

void forgetTemporary(int slot) {
  if (slot < 0)
    return;
  temporaryNames[static_cast<size_t>(slot)].exists = false;
  temporaryNames[static_cast<size_t>(slot)].taken = false;
}

absl::Status pathError(const std::string& path, const char* action, int number) {
  return absl::ErrnoToStatus(number, absl::StrFormat("%s: cannot %s", path, action));
}

/// True for names of what is open already: its file goes on where it is.
bool isDescriptor(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/self/fd/");
}

absl::Status checkName(const std::string& path) {
  if (path.empty())
    return absl::InvalidArgumentError("expects a file to write, but got an empty name");
  return absl::OkStatus();
}

/// The name after the symbolic links of `path`, whose last may lead to nothing yet.
absl::StatusOr<std::string> followLinks(std::string path) {
  const std::string given = path;
  constexpr int mostLinks = 40; // as the kernel
  for (int i = 0; i < mostLinks; ++i) {
    std::array<char, PATH_MAX> link;
    ssize_t length = ::readlink(path.c_str(), link.data(), link.size());
    if (length < 0)
      return path;
    std::string next(link.data(), static_cast<size_t>(length));
    path = next.starts_with('/') ? next : path.substr(0, path.rfind('/') + 1) + next;
  }
  return pathError(given, "write", ELOOP);
}

std::string folderOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// A number that no other process or thread draws: names need not be secret, files are created
/// exclusively.
uint64_t drawNumber() {
  static std::atomic<uint64_t> counter = 0;
  std::random_device device;
  return (uint64_t(device()) << 32 ^ uint64_t(::getpid()) << 16) + counter++;
}

} // namespace

void removeTemporaryFiles() {
  for (TemporaryName& place : temporaryNames)
    if (place.exists)
      ::unlink(place.name.data());
}

absl::Status checkOutput(const std::string& path, std::span<const std::string> inputs) {
  TENON_RETURN_IF_ERROR(checkName(path));
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT)
      return pathError(path, "write", errno);
    TENON_ASSIGN_OR_RETURN(std::string target, followLinks(path));
    if (target.ends_with('/'))
      return pathError(path, "write", EISDIR);
    if (::access(folderOf(target).c_str(), W_OK | X_OK) != 0)
      return pathError(path, "write", errno);
    return absl::OkStatus();
  }
  if (S_ISDIR(found.st_mode))
    return pathError(path, "write", EISDIR);
  TENON_ASSIGN_OR_RETURN(std::string target, followLinks(path));
  bool isReplaced = S_ISREG(found.st_mode);
  if (::access(path.c_str(), W_OK) != 0 ||
      (isReplaced && ::access(folderOf(target).c_str(), W_OK | X_OK) != 0))
    return pathError(path, "write", errno);
  for (const std::string& input : inputs) {
    struct stat other;
    if (::stat(input.c_str(), &other) == 0 && S_ISREG(other.st_mode) &&
        other.st_dev == found.st_dev && other.st_ino == found.st_ino)
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: expects an output that is no input, but %s is the same file", path, input));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path,
                                                               Durability durability) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, durability));
  if (durability == Durability::Cached) {
    TENON_RETURN_IF_ERROR(file->openTemporary(path));
    return file;
  }
  TENON_RETURN_IF_ERROR(checkOutput(path));
  struct stat found;
  if (isDescriptor(path) || (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))) {
    file->descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file->descriptor < 0)
      return pathError(path, "write", errno);
    return file;
  }
  TENON_ASSIGN_OR_RETURN(std::string target, followLinks(path));
  TENON_RETURN_IF_ERROR(file->openTemporary(target));
  return file;
}

absl::Status OutputFile::openTemporary(const std::string& behindLinks) {
  std::string folder = folderOf(behindLinks);
  std::string name = behindLinks.substr(behindLinks.rfind('/') + 1);
  name.resize(std::min<size_t>(name.size(), NAME_MAX - 32)); // leaves place for the ending
  constexpr int mostTries = 100;
  for (int i = 0; i < mostTries && descriptor < 0; ++i) {
    forgetTemporary(slot);
    temporary = absl::StrFormat("%s/%s.%016x.tmp", folder, name, drawNumber());
    slot = rememberTemporary(temporary); // first, so that no moment is left to a signal
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        durability == Durability::Cached ? 0600 : 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0) {
    temporary.clear();
    return error("write", errno);
  }
  target = behindLinks;
  struct stat replaced;
  if (durability == Durability::Synced && ::stat(target.c_str(), &replaced) == 0 &&
      ::fchmod(descriptor, replaced.st_mode & 07777) != 0)
    return error("write", errno);
  return absl::OkStatus();
}

absl::Status OutputFile::error(const char* action, int number) const {
  return pathError(path, action, number);
}

absl::Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return error("write", count < 0 ? errno : EIO);
    written += static_cast<uint64_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::writeZeros(uint64_t count) {
  static constexpr std::array<std::byte, 4096> zeros{};
  for (; count > 0; count -= std::min<uint64_t>(count, zeros.size()))
    TENON_RETURN_IF_ERROR(write(std::span(zeros).first(std::min<uint64_t>(count, zeros.size()))));
  return absl::OkStatus();
}

absl::Status OutputFile::finish() {
  // Pipes, devices and some file systems have nothing to wait for.
  if (durability == Durability::Synced && ::fsync(descriptor) != 0 && errno != EINVAL &&
      errno != ENOTSUP && errno != EROFS)
    return error("write", errno);
  if (::close(std::exchange(descriptor, -1)) != 0)
    return error("write", errno);
  if (!temporary.empty() && ::rename(temporary.c_str(), target.c_str()) != 0)
    return error("write", errno);
  temporary.clear();
  forgetTemporary(std::exchange(slot, -1));
  return absl::OkStatus();
}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  forgetTemporary(slot);
}

absl::Status writeFile(const std::string& path, std::string_view text,
                       OutputFile::Durability durability) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::create(path, durability));
  TENON_RETURN_IF_ERROR(file->write(text));
  return file->finish();
}

} // namespace tenon
