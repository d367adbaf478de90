#ifndef TENON_SUPPORT_SHAREDLIBRARY_H
#define TENON_SUPPORT_SHAREDLIBRARY_H

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

/// A library that is looked for when the program runs. It stays loaded: those of a driver hook the
/// process and keep threads.
class SharedLibrary {
public:
  /// The first of `paths` that opens. NotFound has what the loader says of each.
  static absl::StatusOr<SharedLibrary> open(std::span<const std::string> paths);

  const std::string& path() const { return openedPath; }

  /// Looks a function up. FailedPrecondition names the library, the function, and `expected`, what
  /// the library should have been: "cuBLASLt 13".
  template <typename Function>
  absl::Status find(const char* symbol, Function*& function, std::string_view expected) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function ? absl::OkStatus() : lacks(symbol, expected);
  }

private:
  SharedLibrary(void* handle, std::string path) : handle(handle), openedPath(std::move(path)) {}
  void* address(const char* symbol) const;
  absl::Status lacks(const char* symbol, std::string_view expected) const;

  void* handle;
  std::string openedPath;
};

} // namespace tenon

#endif // TENON_SUPPORT_SHAREDLIBRARY_H
