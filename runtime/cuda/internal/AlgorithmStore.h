#ifndef TENON_RUNTIME_CUDA_INTERNAL_ALGORITHMSTORE_H
#define TENON_RUNTIME_CUDA_INTERNAL_ALGORITHMSTORE_H

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/DiskCache.h"

namespace tenon::runtime::internal {

/// The algorithms that a library chose, kept in memory and on disk, so that equal products of a
/// program, and every later load, compute the same bits.
class AlgorithmStore {
public:
  /// With an empty folder, nothing is kept on disk.
  explicit AlgorithmStore(std::string folder) : entries(std::move(folder), "algorithm") {}

  /// The bytes stored under `key`, if there are `size` of them.
  std::optional<std::vector<std::byte>> find(const std::string& key, size_t size) const;
  /// False where the entry could not be written to disk.
  bool store(const std::string& key, std::span<const std::byte> algorithm);
  /// The file of that key.
  std::string pathFor(const std::string& key) const { return entries.pathFor(key); }

private:
  DiskCache entries;
  std::map<std::string, std::vector<std::byte>> stored; ///< by this object
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_ALGORITHMSTORE_H
