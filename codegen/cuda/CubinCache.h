#ifndef TENON_CODEGEN_CUDA_CUBINCACHE_H
#define TENON_CODEGEN_CUDA_CUBINCACHE_H

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "codegen/cuda/Nvrtc.h"
#include "support/DiskCache.h"

namespace tenon::codegen::cuda {

/// Compiled kernels on disk by `cubinKey`.
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

/// The names of the device headers that `source` includes, by lines `#include "name"`, and of those
/// that they include.
std::set<std::string_view> includedHeaders(std::string_view source);

/// The key of what `source` is compiled to: the source, the hashes of the device headers that it
/// includes, options, version of NVRTC and architecture.
std::string cubinKey(const Nvrtc& nvrtc, std::string_view source, const std::string& architecture);

/// Compiles `source` for `architecture`, or takes it from the cache in `cacheFolder()`.
absl::StatusOr<CompiledSource> compileCached(const std::string& source, const std::string& name,
                                             const std::string& architecture);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_CUBINCACHE_H
