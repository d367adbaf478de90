#include "support/CacheFolder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace tenon {

std::string cacheFolder() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("TENON_CACHE_DIR"); !folder.empty())
    return folder;
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/tenon";
  if (std::string folder = variable("HOME"); !folder.empty())
    return folder + "/.cache/tenon";
  return "";
}

static bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool writeAtomically(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> counter = 0;
  std::string temporary = absl::StrFormat("%s.%d.%d.tmp", path, getpid(), counter++);
  int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0)
    return false;
  bool written = writeAll(file, bytes);
  written &= close(file) == 0;
  if (written && rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  unlink(temporary.c_str());
  return false;
}

} // namespace tenon
