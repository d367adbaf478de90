#ifndef TENON_SUPPORT_CACHEFOLDER_H
#define TENON_SUPPORT_CACHEFOLDER_H

#include <string>
#include <string_view>

namespace tenon {

/// The folder of what is kept between runs (compiled kernels, algorithms that libraries chose):
/// $TENON_CACHE_DIR, else $XDG_CACHE_HOME/tenon, else $HOME/.cache/tenon; empty where none of them
/// is set.
std::string cacheFolder();

/// Writes all of `bytes` to a file beside `path` and renames it to `path`, so that nobody sees a
/// part of it. False, and no file left, where that fails (a full disk, no permission).
bool writeAtomically(const std::string& path, std::string_view bytes);

} // namespace tenon

#endif // TENON_SUPPORT_CACHEFOLDER_H
