#ifndef TENON_SUPPORT_OUTPUTFILE_H
#define TENON_SUPPORT_OUTPUTFILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

/// Checks that a file can be written to `path`, before the work whose result it takes: the name is
/// not empty, the folder is there and may be written to, what bears the name is no folder and may
/// be written to. Refuses a path that is one of `inputs` under any name (the same device and
/// inode). InvalidArgument or the system's error, with the path.
absl::Status checkOutput(const std::string& path, std::span<const std::string> inputs = {});

/// Writes a file as a whole or not at all: under a name of its own beside `path` (created
/// exclusively, so that any number of processes may write to one path), which becomes `path` in
/// `finish`. Symbolic links are followed, and a file that is replaced hands on its permissions.
/// What is no regular file (a device, a pipe) or open already (`/dev/stdout`) is written to in
/// place. An object destroyed before `finish` leaves nothing. Errors name the path.
class OutputFile {
public:
  /// `Synced`: `finish` waits until the bytes are on the disk. `Cached`, for entries of a cache,
  /// which are checked when they are read: it does not, so that the file may be empty after a loss
  /// of power; the file is this user's alone (mode 0600), and what bears its name is replaced, a
  /// link, too.
  enum class Durability { Synced, Cached };

  static absl::StatusOr<std::unique_ptr<OutputFile>>
  create(const std::string& path, Durability durability = Durability::Synced);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status write(std::span<const std::byte> bytes);
  absl::Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// `count` zeros.
  absl::Status writeZeros(uint64_t count);
  /// Bytes written so far.
  uint64_t size() const { return written; }
  /// Gives the complete file its name.
  absl::Status finish();

private:
  OutputFile(const std::string& path, Durability durability) : path(path), durability(durability) {}
  absl::Status openTemporary(const std::string& behindLinks);
  absl::Status error(const char* action, int number) const;

  std::string path;      ///< as given, for messages
  std::string target;    ///< after links; empty where it is written to in place
  std::string temporary; ///< while the file has no name of its own
  Durability durability;
  int descriptor = -1;
  int slot = -1; ///< where `temporary` is known to `removeTemporaryFiles`
  uint64_t written = 0;
};

/// Writes `text` to `path` by an `OutputFile`.
absl::Status writeFile(const std::string& path, std::string_view text,
                       OutputFile::Durability durability = OutputFile::Durability::Synced);

/// Removes the files that `OutputFile`s of this process have not finished. For handlers of signals
/// and other ends of the process: it calls nothing that is not safe there.
void removeTemporaryFiles();

} // namespace tenon

#endif // TENON_SUPPORT_OUTPUTFILE_H
