#ifndef TENON_SUPPORT_DISKCACHE_H
#define TENON_SUPPORT_DISKCACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// Results of compilations on disk, by content: everything that a result depends on is its key, and
/// the SHA-256 of the key names its file, so that nobody can make two keys that share one. Where
/// the entries take more than a number of bytes, those go that were not used for longest, and so do
/// unfinished ones of a day ago; that is looked at now and then. Entries appear by rename, so that
/// any number of processes may share a folder; each carries a hash of its content, and a damaged
/// one counts as absent.
///
/// Entries are run as code: the folder is made for this user alone, and a folder or an entry that
/// is not this user's, or that group or others may write to, counts as absent. A folder that cannot
/// be written to costs time, never a failure.
class DiskCache {
public:
  /// Entries are files `NAME.extension` in `folder`; an empty folder means no cache.
  DiskCache(std::string folder, std::string extension, uint64_t mostBytes = uint64_t{1} << 30)
      : folder(std::move(folder)), extension(std::move(extension)), mostBytes(mostBytes) {}

  std::optional<std::string> find(std::string_view key) const;
  /// False where the entry could not be written.
  bool store(std::string_view key, std::string_view content) const;
  /// The file of that key.
  std::string pathFor(std::string_view key) const;

private:
  /// Removes what was not used for longest until three quarters of `mostBytes` are left.
  void trim() const;

  std::string folder, extension;
  uint64_t mostBytes;
};

} // namespace tenon

#endif // TENON_SUPPORT_DISKCACHE_H
