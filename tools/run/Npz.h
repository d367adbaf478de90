#ifndef TENON_TOOLS_RUN_NPZ_H
#define TENON_TOOLS_RUN_NPZ_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/MappedFile.h"

namespace tenon::tools {

/// The element types that arrays may have, all little-endian.
enum class NpyType { F32, F64, F16, I32, I64, U16, U8, Bool };

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

/// What stands before an array's elements.
struct NpyHeader {
  NpyType type = NpyType::F32;
  std::vector<int64_t> shape;
  bool fortranOrder = false; ///< the first axis varies fastest; `NpzFile::read` reorders
};

/// An `.npz` file, as `numpy.savez` and `numpy.savez_compressed` write it: a ZIP archive of `.npy`
/// files, stored or deflated, with ZIP64 where they are large. Encrypted members and other element
/// types are refused. Only what is asked for is unpacked: deflate can expand 1,000 times. Errors
/// name the file and the array.
class NpzFile {
public:
  static absl::StatusOr<NpzFile> open(const std::string& path);

  /// The names of the arrays, in the archive's order.
  std::vector<std::string> names() const;
  bool has(std::string_view name) const { return members.contains(name); }
  /// The header of the array of that name, which there is: what memory `read` takes.
  absl::StatusOr<NpyHeader> header(std::string_view name) const;
  /// The array of that name, which there is.
  absl::StatusOr<NpyArray> read(std::string_view name) const;

  /// A row of the archive's directory.
  struct Member {
    std::string fileName = {};
    size_t place = 0; ///< in the directory
    uint16_t flags = 0, method = 0;
    uint32_t checksum = 0;
    uint64_t packedBytes = 0, bytes = 0, localOffset = 0;
  };

private:
  std::shared_ptr<const MappedFile> file;
  std::map<std::string, Member, std::less<>> members; ///< by the array's name
};

/// All arrays of the `.npz` file at `path`.
absl::StatusOr<NpyArrays> readNpz(const std::string& path);

/// Writes them as `numpy.savez` does, members stored; the same arrays give the same bytes. Refuses
/// an array whose bytes do not match its shape, and more than 4 GiB.
absl::Status writeNpz(const std::string& path, const NpyArrays& arrays);

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_NPZ_H
