#include "support/SharedLibrary.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon {

absl::StatusOr<SharedLibrary> SharedLibrary::open(std::span<const std::string> paths) {
  std::string reasons;
  for (const std::string& path : paths) {
    if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return SharedLibrary(handle, path);
    absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", ::dlerror());
  }
  return absl::NotFoundError(reasons);
}

void* SharedLibrary::address(const char* symbol) const { return ::dlsym(handle, symbol); }

absl::Status SharedLibrary::lacks(const char* symbol, std::string_view expected) const {
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: expects %s, but found no %s", openedPath, expected, symbol));
}

} // namespace tenon
