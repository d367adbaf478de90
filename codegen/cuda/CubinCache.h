#ifndef TENON_CODEGEN_CUDA_CUBINCACHE_H
#define TENON_CODEGEN_CUDA_CUBINCACHE_H

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/cuda/Nvrtc.h"
#include "support/DiskCache.h"

namespace tenon::codegen::cuda {

/// Compiled kernels on disk: source, device headers, options, version of NVRTC and architecture are
/// the key of an entry.
class CubinCache {
public:
  /// An empty folder means no cache.
  explicit CubinCache(std::string folder) : entries(std::move(folder), "cubin") {}

  std::optional<CompiledSource> find(const std::string& key) const;
  /// False where the entry could not be written.
  bool store(const std::string& key, const CompiledSource& compiled) const;
  /// The file of that key.
  std::string pathFor(const std::string& key) const { return entries.pathFor(key); }

private:
  DiskCache entries;
};

/// Compiles `source` for `architecture`, or takes it from the cache in `cacheFolder()`.
absl::StatusOr<CompiledSource> compileCached(const std::string& source, const std::string& name,
                                             const std::string& architecture);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_CUBINCACHE_H
