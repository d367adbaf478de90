#include "support/DiskCache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/strings/str_format.h"
#include "support/CacheFolder.h"
#include "support/Hash.h"
#include "support/MappedFile.h"

namespace tenon {

/// An entry is: `magic`, the hash of everything behind it, the 32 digits that name its key, the
/// content.
static constexpr std::string_view magic = "tenonE01";
static constexpr size_t nameDigits = 32;

static uint64_t hashText(std::string_view text) {
  return hashBytes(std::as_bytes(std::span(text)));
}

/// 128 bits that name a key.
static std::string nameOf(std::string_view key) {
  return absl::StrFormat("%016x%016x", hashText(key), hashText(std::string(key) + "#"));
}

std::string DiskCache::pathFor(std::string_view key) const {
  return folder + "/" + nameOf(key) + "." + extension;
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (folder.empty())
    return std::nullopt;
  auto file = MappedFile::open(pathFor(key));
  if (!file.ok())
    return std::nullopt;
  std::string_view bytes(reinterpret_cast<const char*>((*file)->bytes().data()),
                         (*file)->bytes().size());
  uint64_t stored;
  if (bytes.size() < magic.size() + sizeof(stored) + nameDigits ||
      bytes.substr(0, magic.size()) != magic)
    return std::nullopt;
  std::memcpy(&stored, bytes.data() + magic.size(), sizeof(stored));
  bytes.remove_prefix(magic.size() + sizeof(stored));
  if (hashText(bytes) != stored || bytes.substr(0, nameDigits) != nameOf(key))
    return std::nullopt;
  std::error_code ignored;
  std::filesystem::last_write_time(pathFor(key), std::filesystem::file_time_type::clock::now(),
                                   ignored);
  return std::string(bytes.substr(nameDigits));
}

bool DiskCache::store(std::string_view key, std::string_view content) const {
  if (folder.empty())
    return false;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::string hashed = nameOf(key);
  hashed.append(content);
  uint64_t hash = hashText(hashed);
  std::string entry(magic);
  entry.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  entry += hashed;
  constexpr unsigned storesATrim = 32;
  static std::atomic<unsigned> stores = 0;
  if (stores++ % storesATrim == 0)
    trim();
  return writeAtomically(pathFor(key), entry);
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
