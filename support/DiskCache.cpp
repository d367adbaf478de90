#include "support/DiskCache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/strings/escaping.h"
#include "support/CacheFolder.h"
#include "support/Hash.h"
#include "support/MappedFile.h"
#include "support/OutputFile.h"
#include "support/SecureHash.h"
#include "support/Warning.h"

namespace tenon {

/// An entry is: `magic`, the hash of everything after it (against damage), the SHA-256 of its key,
/// the content.
static constexpr std::string_view magic = "tenonE01";

static uint64_t hashText(std::string_view text) {
  return hashBytes(std::as_bytes(std::span(text)));
}

std::string DiskCache::pathFor(std::string_view key) const {
  return folder + "/" + absl::BytesToHexString(hashSecurely(key)) + "." + extension;
}

/// True where only this user can have written the entry.
static bool isOwn(const MappedFile& entry) {
  const FileIdentity& identity = entry.identity();
  if (identity.owner == ::geteuid() && (identity.mode & (S_IWGRP | S_IWOTH)) == 0)
    return true;
  warnOnce(entry.path() +
           ": expects an entry of the cache that is yours and that neither group nor "
           "others may write to; ignored");
  return false;
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (folder.empty() || !isPrivateFolder(folder))
    return std::nullopt;
  auto file = MappedFile::open(pathFor(key));
  if (!file.ok() || !isOwn(**file))
    return std::nullopt;
  std::string_view bytes(reinterpret_cast<const char*>((*file)->bytes().data()),
                         (*file)->bytes().size());
  uint64_t stored;
  std::string name = hashSecurely(key);
  if (bytes.size() < magic.size() + sizeof(stored) + name.size() ||
      bytes.substr(0, magic.size()) != magic)
    return std::nullopt;
  std::memcpy(&stored, bytes.data() + magic.size(), sizeof(stored));
  bytes.remove_prefix(magic.size() + sizeof(stored));
  if (hashText(bytes) != stored || bytes.substr(0, name.size()) != name)
    return std::nullopt;
  std::error_code ignored;
  std::filesystem::last_write_time(pathFor(key), std::filesystem::file_time_type::clock::now(),
                                   ignored);
  return std::string(bytes.substr(name.size()));
}

bool DiskCache::store(std::string_view key, std::string_view content) const {
  if (folder.empty() || !makePrivateFolder(folder))
    return false;
  std::string hashed = hashSecurely(key);
  hashed.append(content);
  uint64_t hash = hashText(hashed);
  std::string entry(magic);
  entry.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  entry += hashed;
  constexpr unsigned storesATrim = 32;
  static std::atomic<unsigned> stores = 0;
  if (stores++ % storesATrim == 0)
    trim();
  return writeFile(pathFor(key), entry, OutputFile::Durability::Cached).ok();
}

/// Removes `path` where it was left by a process that was killed: nobody writes for a day.
static void removeIfLeft(const std::filesystem::directory_entry& path) {
  using namespace std::chrono_literals;
  std::error_code error;
  auto written = path.last_write_time(error);
  if (!error && std::filesystem::file_time_type::clock::now() - written > 24h)
    std::filesystem::remove(path, error);
}

void DiskCache::trim() const {
  struct Entry {
    std::filesystem::file_time_type used;
    uint64_t bytes;
    std::filesystem::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error; // of a folder or entry that is gone meanwhile
  for (std::filesystem::directory_iterator next(folder, error), end; !error && next != end;
       next.increment(error)) {
    if (next->path().extension() == ".tmp")
      removeIfLeft(*next);
    if (next->path().extension() != "." + extension)
      continue;
    std::error_code sizeError, timeError;
    uint64_t bytes = next->file_size(sizeError);
    auto used = next->last_write_time(timeError);
    if (sizeError || timeError)
      continue;
    entries.push_back({used, bytes, next->path()});
    total += bytes;
  }
  if (total <= mostBytes)
    return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= mostBytes / 4 * 3)
      return;
    std::filesystem::remove(entry.path, error);
    total -= entry.bytes;
  }
}

} // namespace tenon
