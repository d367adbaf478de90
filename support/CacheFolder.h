#ifndef TENON_SUPPORT_CACHEFOLDER_H
#define TENON_SUPPORT_CACHEFOLDER_H

#include <string>

namespace tenon {

/// The folder of what is kept between runs (compiled kernels, algorithms that libraries chose):
/// $TENON_CACHE_DIR, else $XDG_CACHE_HOME/tenon, else $HOME/.cache/tenon; empty where none of them
/// is set. Relative paths count as not set (the XDG Base Directory Specification asks for that),
/// with a warning for $TENON_CACHE_DIR. Empty, with a warning, where `isPrivateFolder` says no.
std::string cacheFolder();

/// True where nobody else can put files into `folder`: it is this (effective) user's, and neither
/// group nor others may write to it, or it is not there. What lies in a cache is run as code.
bool isPrivateFolder(const std::string& folder);

/// Makes `folder` with what is missing above it, for this user alone (mode 0700). False where that
/// fails or it is not private.
bool makePrivateFolder(const std::string& folder);

} // namespace tenon

#endif // TENON_SUPPORT_CACHEFOLDER_H
