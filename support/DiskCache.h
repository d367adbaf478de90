#ifndef TENON_SUPPORT_DISKCACHE_H
#define TENON_SUPPORT_DISKCACHE_H

#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// Results of compilations on disk, by content: everything that a result depends on is its key, and
/// a hash of the key names its file. Entries appear by rename, so that any number of processes may
/// share a folder; each carries a hash of its content, and a damaged one counts as absent. A folder
/// that cannot be written to costs time, never a failure.
class DiskCache {
public:
  /// Entries are files `NAME.extension` in `folder`; an empty folder means no cache.
  DiskCache(std::string folder, std::string extension)
      : folder(std::move(folder)), extension(std::move(extension)) {}

  std::optional<std::string> find(std::string_view key) const;
  /// False where the entry could not be written.
  bool store(std::string_view key, std::string_view content) const;
  /// The file of that key.
  std::string pathFor(std::string_view key) const;

private:
  std::string folder, extension;
};

} // namespace tenon

#endif // TENON_SUPPORT_DISKCACHE_H
