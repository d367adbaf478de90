#ifndef TENON_TOOLS_DRIVER_FILEKIND_H
#define TENON_TOOLS_DRIVER_FILEKIND_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon::tools {

/// The files that Tenon reads as models.
enum class FileKind : uint8_t {
  Model,   ///< a model that a frontend recognises
  Program, ///< a compiled program, `.tnn`
  Text,    ///< a graph in textual IR
};

/// What the file at `path` is, by its first bytes; `-` is standard input, which can be text alone.
/// For what Tenon reads nothing of an InvalidArgument that names it and what Tenon reads instead: a
/// safetensors or ONNX file, an archive, a folder, plain text, an address. NotFound and others where
/// the file cannot be opened.
absl::StatusOr<FileKind> identifyFile(const std::string& path);

/// What a file that begins with `head` (4,096 bytes suffice) is, where it is none that Tenon reads:
/// `a safetensors file`. Empty where it may be one. `path` says what bytes alone do not.
std::string describeForeignFile(std::span<const std::byte> head, std::string_view path);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_FILEKIND_H
