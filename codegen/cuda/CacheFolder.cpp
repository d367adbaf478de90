#include "codegen/cuda/CacheFolder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "support/Hash.h"

namespace tenon::codegen::cuda {

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

std::string keepSource(const std::string& source, const std::string& name) {
  std::string file =
      absl::StrFormat("/%s-%016x.cu", name, hashBytes(std::as_bytes(std::span(source))));
  for (const std::string& folder : {cacheFolder(), std::string("/tmp")}) {
    if (folder.empty())
      continue;
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    if (writeAtomically(folder + file, source))
      return folder + file;
  }
  return "(no folder can be written to)";
}

} // namespace tenon::codegen::cuda
