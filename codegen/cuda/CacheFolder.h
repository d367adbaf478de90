#ifndef TENON_CODEGEN_CUDA_CACHEFOLDER_H
#define TENON_CODEGEN_CUDA_CACHEFOLDER_H

#include <string>
#include <string_view>

namespace tenon::codegen::cuda {

/// The folder of compiled kernels: $TENON_CACHE_DIR, else $XDG_CACHE_HOME/tenon, else
/// $HOME/.cache/tenon; empty where none of them is set.
std::string cacheFolder();

/// Writes all of `bytes` to a file beside `path` and renames it to `path`, so that nobody sees a
/// part of it. False, and no file left, where that fails (a full disk, no permission).
bool writeAtomically(const std::string& path, std::string_view bytes);

/// Writes a source that does not compile to the cache folder, or to /tmp, and returns its path;
/// a reason in brackets where it cannot be kept.
std::string keepSource(const std::string& source, const std::string& name);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_CACHEFOLDER_H
