#include "runtime/cuda/internal/AlgorithmStore.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "support/CacheFolder.h"
#include "support/Hash.h"
#include "support/MappedFile.h"

namespace tenon::runtime::internal {

static constexpr std::string_view magic = "tenonA01";

/// What stands behind magic and hash: the key, a zero byte, the algorithm.
static std::string contentOf(const std::string& key, std::span<const std::byte> algorithm) {
  std::string content = key;
  content.push_back('\0');
  content.append(reinterpret_cast<const char*>(algorithm.data()), algorithm.size());
  return content;
}

static uint64_t hashText(std::string_view text) {
  return hashBytes(std::as_bytes(std::span(text)));
}

std::string AlgorithmStore::pathFor(const std::string& key) const {
  return absl::StrFormat("%s/%016x.algorithm", folder, hashText(key));
}

std::optional<std::vector<std::byte>> AlgorithmStore::find(const std::string& key,
                                                           size_t size) const {
  if (auto found = stored.find(key); found != stored.end() && found->second.size() == size)
    return found->second;
  if (folder.empty())
    return std::nullopt;
  auto file = MappedFile::open(pathFor(key));
  if (!file.ok())
    return std::nullopt;
  std::span<const std::byte> bytes = (*file)->bytes();
  if (bytes.size() != magic.size() + sizeof(uint64_t) + key.size() + 1 + size)
    return std::nullopt;
  std::vector<std::byte> algorithm(bytes.end() - static_cast<std::ptrdiff_t>(size), bytes.end());
  std::string expected(magic);
  std::string content = contentOf(key, algorithm);
  uint64_t hash = hashText(content);
  expected.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  expected += content;
  if (!std::ranges::equal(std::as_bytes(std::span(expected)), bytes))
    return std::nullopt;
  return algorithm;
}

bool AlgorithmStore::store(const std::string& key, std::span<const std::byte> algorithm) {
  stored[key].assign(algorithm.begin(), algorithm.end());
  if (folder.empty())
    return false;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::string content = contentOf(key, algorithm);
  uint64_t hash = hashText(content);
  std::string entry(magic);
  entry.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  return writeAtomically(pathFor(key), entry + content);
}

} // namespace tenon::runtime::internal
