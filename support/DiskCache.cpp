#include "support/DiskCache.h"

#include <cstring>
#include <filesystem>
#include <span>

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
  return writeAtomically(pathFor(key), entry);
}

} // namespace tenon
