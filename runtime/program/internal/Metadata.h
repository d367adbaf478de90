#ifndef TENON_RUNTIME_PROGRAM_INTERNAL_METADATA_H
#define TENON_RUNTIME_PROGRAM_INTERNAL_METADATA_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// A section of the file and its contents.
struct Section {
  uint64_t offset = 0;
  SharedBytes contents;
};

/// What a `.tnn` file holds after its header.
struct EncodedProgram {
  std::vector<Section> sections; ///< in file order
  std::vector<std::byte> metadata;
};

/// Lays out the sections of `program` and encodes its metadata. `folder` is the folder of the
/// program file: paths of model files below it are stored relative to it.
EncodedProgram encodeProgram(const Program& program, const std::string& folder);

/// Decodes the metadata of a mapped `.tnn` file; `metadata` lies inside `file`, and `owner` keeps
/// both alive. Checks the FlatBuffer, the layout and the hash of every section, and the zeros
/// between them; what the values mean is `validateProgram`'s to check.
absl::StatusOr<Program> decodeProgram(std::span<const std::byte> file,
                                      std::span<const std::byte> metadata,
                                      std::shared_ptr<const void> owner, const std::string& folder);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_PROGRAM_INTERNAL_METADATA_H
