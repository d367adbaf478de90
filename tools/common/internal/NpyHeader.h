#ifndef TENON_TOOLS_COMMON_INTERNAL_NPYHEADER_H
#define TENON_TOOLS_COMMON_INTERNAL_NPYHEADER_H

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "tools/common/Npz.h"

namespace tenon::tools {

/// Elements of `shape`, or nothing where a length is negative or the product, in bytes of elements
/// of 8, does not fit an int64_t.
std::optional<int64_t> countElements(std::span<const int64_t> shape);

/// Parses an `.npy` file, versions 1 to 3 (NumPy enhancement proposal 1). Errors say what is wrong,
/// without the file's name.
absl::StatusOr<NpyArray> parseNpy(std::span<const std::byte> file);

/// What stands before the elements: magic, version 1.0, and a header padded to a multiple of 64.
std::string makeNpyHeader(const NpyArray& array);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_INTERNAL_NPYHEADER_H
