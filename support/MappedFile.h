#ifndef TENON_SUPPORT_MAPPEDFILE_H
#define TENON_SUPPORT_MAPPEDFILE_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace tenon {

/// A file mapped read-only into memory for as long as the object lives.
///
/// Shared ownership lets views into the mapping (weights, program sections) outlive the reader
/// that opened it.
class MappedFile {
public:
  /// Maps the regular file at `path`. Fails with NotFound, PermissionDenied or InvalidArgument
  /// (a directory, a pipe), naming the path and the system's reason. An empty file maps to an
  /// empty span.
  static absl::StatusOr<std::shared_ptr<const MappedFile>> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// All bytes of the file.
  std::span<const std::byte> bytes() const { return view; }
  /// The path as it was given to `open`.
  const std::string& path() const { return filePath; }

private:
  MappedFile(std::string path, std::span<const std::byte> view);

  std::string filePath;
  std::span<const std::byte> view;
};

} // namespace tenon

#endif // TENON_SUPPORT_MAPPEDFILE_H
