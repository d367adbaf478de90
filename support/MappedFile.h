#ifndef TENON_SUPPORT_MAPPEDFILE_H
#define TENON_SUPPORT_MAPPEDFILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

/// What the file system says of a file that was opened: another file, or other bytes in it, has
/// another identity, where clocks are fine enough. All zero for memory that is no file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modifiedNs = 0; ///< of its content, since 1970
  int64_t changedNs = 0;  ///< of its content or attributes; no program can set it
  uint32_t owner = 0;
  uint32_t mode = 0;
};

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

  /// Bytes at `offset` of a file.
  struct Piece {
    uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  /// Memory that looks like a mapped file of `size` bytes: `pieces`, which lie inside it, and zeros
  /// elsewhere, which take no memory until they are read. `name` stands for the path in messages.
  static absl::StatusOr<std::shared_ptr<const MappedFile>>
  ofPieces(const std::string& name, uint64_t size, std::span<const Piece> pieces);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// All bytes of the file.
  std::span<const std::byte> bytes() const { return view; }
  /// The path as it was given to `open`.
  const std::string& path() const { return filePath; }
  /// Which file it was when it was opened.
  const FileIdentity& identity() const { return fileIdentity; }
  /// True for a file, false for `ofPieces`.
  bool isFile() const { return fileIdentity.inode != 0; }

private:
  MappedFile(std::string path, std::span<const std::byte> view, const FileIdentity& identity);

  std::string filePath;
  std::span<const std::byte> view;
  FileIdentity fileIdentity;
};

/// The first bytes of the regular file at `path`, at most `count`; fails as `MappedFile::open`.
absl::StatusOr<std::string> readFileStart(const std::string& path, size_t count);

/// The path of the mapped file that `address` lies in, or null. For handlers of signals: it calls
/// nothing that is not safe there.
const char* findMappedPath(const void* address);

} // namespace tenon

#endif // TENON_SUPPORT_MAPPEDFILE_H
