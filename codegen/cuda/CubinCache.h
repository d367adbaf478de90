#ifndef TENON_CODEGEN_CUDA_CUBINCACHE_H
#define TENON_CODEGEN_CUDA_CUBINCACHE_H

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/cuda/Nvrtc.h"

namespace tenon::codegen::cuda {

/// Compiled kernels on disk, by content: source, device headers, options, version of NVRTC and
/// architecture make the name of a file. Entries appear by rename, so that any number of processes
/// may share a folder; each carries a hash of its content, and a damaged one counts as absent. A
/// folder that cannot be written to costs time, never a failure.
class CubinCache {
public:
  /// An empty folder means no cache.
  explicit CubinCache(std::string folder) : folder(std::move(folder)) {}

  std::optional<CompiledSource> find(const std::string& key) const;
  /// False where the entry could not be written.
  bool store(const std::string& key, const CompiledSource& compiled) const;
  /// The file of that key.
  std::string pathFor(const std::string& key) const;

private:
  std::string folder;
};

/// Compiles `source` for `architecture`, or takes it from the cache in `cacheFolder()`.
absl::StatusOr<CompiledSource> compileCached(const std::string& source, const std::string& name,
                                             const std::string& architecture);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_CUBINCACHE_H
