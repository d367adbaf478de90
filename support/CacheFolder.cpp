#include "support/CacheFolder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "support/Warning.h"

namespace tenon {

/// The folder that the environment names.
static std::string namedFolder() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("TENON_CACHE_DIR"); folder.starts_with('/'))
    return folder;
  else if (!folder.empty())
    warnOnce("TENON_CACHE_DIR: expects an absolute path, but got '" + folder + "'; ignored");
  if (std::string folder = variable("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/tenon";
  if (std::string folder = variable("HOME"); folder.starts_with('/'))
    return folder + "/.cache/tenon";
  return "";
}

bool isPrivateFolder(const std::string& folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0)
    return errno == ENOENT;
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string cacheFolder() {
  std::string folder = namedFolder();
  if (folder.empty() || isPrivateFolder(folder))
    return folder;
  warnOnce(folder + ": expects a cache folder that is yours and that neither group nor others may "
                    "write to; nothing is cached");
  return "";
}

bool makePrivateFolder(const std::string& folder) {
  for (size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1))
    ::mkdir(folder.substr(0, end).c_str(), 0700);
  ::mkdir(folder.c_str(), 0700);
  struct stat info;
  return ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && isPrivateFolder(folder);
}

} // namespace tenon
