#ifndef TENON_TOOLS_COMMON_NPZ_H
#define TENON_TOOLS_COMMON_NPZ_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon::tools {

/// The element types that arrays may have, all little-endian.
enum class NpyType { F32, F64, F16, I32, I64, U16, U8 };

/// The name of `type` in an array's header: `<f4`, `|u1`.
std::string_view npyTypeName(NpyType type);
/// Bytes of one element.
int64_t npyTypeBytes(NpyType type);

/// An array as NumPy has it: row-major.
struct NpyArray {
  NpyType type = NpyType::F32;
  std::vector<int64_t> shape;   ///< empty for a scalar
  std::vector<std::byte> bytes; ///< the product of `shape` elements
};

/// Arrays by name.
using NpyArrays = std::map<std::string, NpyArray, std::less<>>;

/// Reads the `.npz` file at `path`, as `numpy.savez` and `numpy.savez_compressed` write it: a ZIP
/// archive of `.npy` files, stored or deflated. Archives beyond 4 GiB (ZIP64), encrypted members,
/// other element types and Fortran order are refused. Memory stays within about 1,000 times the
/// file's size, which is the most that deflate can expand. Errors name the file and the array.
absl::StatusOr<NpyArrays> readNpz(const std::string& path);

/// Writes them as `numpy.savez` does, members stored; the same arrays give the same bytes. Refuses
/// an array whose bytes do not match its shape, and more than 4 GiB.
absl::Status writeNpz(const std::string& path, const NpyArrays& arrays);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_NPZ_H
