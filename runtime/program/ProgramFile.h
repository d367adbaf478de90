#ifndef TENON_RUNTIME_PROGRAM_PROGRAMFILE_H
#define TENON_RUNTIME_PROGRAM_PROGRAMFILE_H

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/program/Program.h"
#include "support/MappedFile.h"

namespace tenon::runtime {

/// The `.tnn` file: a Program on disk. Little-endian.
///
///   offset 0      header of 56 bytes: magic "\x89TENON\r\n", u32 format version, u32 byte-order
///                 mark, u64 file size, u64 offset, size and XXH3 hash of the metadata, u64 hash of
///                 the header before it
///   page 1 …      sections, each at the next multiple of 4,096: objects, embedded constants, the
///                 tokeniser, the report; raw bytes, used where they are mapped
///   last          metadata: a FlatBuffer (Program.fbs), at the next multiple of 4,096
///
/// Every byte is covered by a hash or, between sections, must be zero, so any damage is found. The
/// hashes do not resist an adversary: a program is code, and running one means trusting it. So that
/// no program is run in place of data, its name ends in `programSuffix`.
inline constexpr std::string_view programSuffix = ".tnn";

/// Validates `program` and writes it to `path` by an `OutputFile`, unless that is one of its model
/// files. The path of a model file below the folder of `path` is stored relative to it, so that
/// both can be moved together; any other becomes absolute.
absl::Status writeProgram(const Program& program, const std::string& path);

/// Reads the program at `path` and validates it. Code and embedded constants are views into the
/// mapped file; model files are not opened, but their relative paths are resolved against the
/// folder of `path`. Fails with InvalidArgument for a foreign file, a program under another name
/// than `programSuffix` or invalid contents, DataLoss for a damaged or truncated one, Unimplemented
/// for one of another format version.
absl::StatusOr<Program> readProgram(const std::string& path);

/// The same of a file that is mapped already, whatever its name.
absl::StatusOr<Program> readMappedProgram(const std::shared_ptr<const MappedFile>& mapped);

/// True if `bytes`, the beginning of a file, start with the magic of a `.tnn` file.
bool isProgramFile(std::span<const std::byte> bytes);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_PROGRAMFILE_H
