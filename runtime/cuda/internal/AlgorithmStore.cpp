#include "runtime/cuda/internal/AlgorithmStore.h"

namespace tenon::runtime::internal {

std::optional<std::vector<std::byte>> AlgorithmStore::find(const std::string& key,
                                                           size_t size) const {
  if (auto found = stored.find(key); found != stored.end() && found->second.size() == size)
    return found->second;
  std::optional<std::string> content = entries.find(key);
  if (!content || content->size() != size)
    return std::nullopt;
  auto bytes = std::as_bytes(std::span(*content));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

bool AlgorithmStore::store(const std::string& key, std::span<const std::byte> algorithm) {
  stored[key].assign(algorithm.begin(), algorithm.end());
  return entries.store(key, {reinterpret_cast<const char*>(algorithm.data()), algorithm.size()});
}

} // namespace tenon::runtime::internal
