#ifndef TENON_TOOLS_RUN_INTERNAL_NPYHEADER_H
#define TENON_TOOLS_RUN_INTERNAL_NPYHEADER_H

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "tools/run/Npz.h"

namespace tenon::tools {

/// Elements of `shape`, or nothing where a length is negative or the product, in bytes of elements
/// of 8, does not fit an int64_t.
std::optional<int64_t> countElements(std::span<const int64_t> shape);

/// The first bytes of an `.npy` file, from which the length of its header follows.
inline constexpr size_t npyStartBytes = 12;
/// The longest header that is read: that of 64 axes has some 1,500 bytes.
inline constexpr size_t longestNpyHeader = 65536;

/// Where the elements of an `.npy` file start, which begins with `start` (`npyStartBytes`, or the
/// whole file where it is shorter) and has `fileBytes`.
absl::StatusOr<size_t> findNpyElements(std::string_view start, uint64_t fileBytes);

/// Parses what stands before the elements of an `.npy` file, versions 1 to 3 (NumPy enhancement
/// proposal 1). Errors say what is wrong, without the file's name.
absl::StatusOr<NpyHeader> parseNpyHeader(std::string_view text);

/// The same elements with the last axis varying fastest instead of the first.
std::vector<std::byte> reorderFortran(std::span<const std::byte> elements, const NpyHeader& header);

/// What stands before the elements: magic, version 1.0, and a header padded to a multiple of 64.
std::string makeNpyHeader(const NpyArray& array);

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_INTERNAL_NPYHEADER_H
