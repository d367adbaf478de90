#ifndef TENON_FRONTENDS_GGUF_GGUFFILE_H
#define TENON_FRONTENDS_GGUF_GGUFFILE_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/gguf/GgufValue.h"
#include "ir/encoding/Encoding.h"
#include "support/MappedFile.h"
#include "support/TextHash.h"

namespace tenon::frontends {

/// A key and its value, as views of the file.
struct GgufMetadata {
  std::string_view key;
  GgufValue value;
};

/// A row of the tensor table.
struct GgufTensor {
  /// A view of the file.
  std::string_view name;
  /// Lengths of the axes as the file has them: innermost first, ggml's `ne`. Every length is at
  /// least 1 and their product fits an int64_t. Empty for a scalar.
  std::vector<int64_t> ne;
  /// The type's number in the file (`enum ggml_type`).
  uint32_t ggufType = 0;
  /// How the values are stored, or null where Tenon does not know the type.
  const Encoding* encoding = nullptr;
  /// Where the data start, in bytes from the file's first.
  uint64_t offset = 0;
  /// Length of the data in bytes; 0 where the encoding is not known.
  uint64_t byteSize = 0;

  /// The row-major shape: outermost axis first. A linear layer's weight is [outputs, inputs].
  std::vector<int64_t> shape() const { return {ne.rbegin(), ne.rend()}; }
};

/// The name that ggml gives to a type number (`q4_k`), for messages; `unknown` where it has none.
std::string_view ggufTensorTypeName(uint32_t ggufType);

/// A GGUF model file, versions 2 and 3, little-endian: its metadata and its table of tensors.
/// Source: docs/gguf.md of the ggml project.
///
/// The indices of names are hashed with a seed of the process, since names may be made to collide.
///
/// The file stays memory-mapped; names, strings, arrays and tensor data are views of the mapping
/// and live as long as this object (or as `mapping()`). Everything is checked once, by `open`:
/// counts and lengths against the bytes that are left, names for duplicates, offsets for
/// alignment and range. A tensor of a type that Tenon does not know is an error only when used.
///
/// Every error names the file, the key or tensor, what was expected and what was found. A missing
/// key or tensor is NotFound, everything else InvalidArgument.
class GgufFile {
public:
  /// Maps and checks the file at `path`.
  static absl::StatusOr<std::shared_ptr<const GgufFile>> open(const std::string& path);
  /// Checks a file that is mapped already.
  static absl::StatusOr<std::shared_ptr<const GgufFile>>
  create(std::shared_ptr<const MappedFile> mapped);

  const std::string& path() const { return file->path(); }
  /// The mapped bytes, for views that outlive this object.
  const std::shared_ptr<const MappedFile>& mapping() const { return file; }
  /// 2 or 3.
  uint32_t version() const { return formatVersion; }
  /// `general.alignment` in bytes, a power of two; 32 where the file has none.
  uint64_t alignment() const { return dataAlignment; }

  /// All metadata in the file's order.
  std::span<const GgufMetadata> metadata() const { return entries; }
  /// The value of `key`, or null.
  const GgufValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  /// Any integer type; refuses negative values and values above `highest`.
  absl::StatusOr<uint64_t>
  requireU64(std::string_view key, uint64_t highest = std::numeric_limits<uint64_t>::max()) const;
  absl::StatusOr<uint64_t>
  optionalU64(std::string_view key, uint64_t otherwise,
              uint64_t highest = std::numeric_limits<uint64_t>::max()) const;
  /// f32, or f64 rounded to f32.
  absl::StatusOr<float> requireF32(std::string_view key) const;
  absl::StatusOr<float> optionalF32(std::string_view key, float otherwise) const;
  absl::StatusOr<bool> requireBool(std::string_view key) const;
  absl::StatusOr<bool> optionalBool(std::string_view key, bool otherwise) const;
  absl::StatusOr<std::string_view> requireString(std::string_view key) const;
  absl::StatusOr<std::string_view> optionalString(std::string_view key,
                                                  std::string_view otherwise) const;

  /// An array of strings. 16 bytes of memory a string, each of which takes at least 8 in the file.
  absl::StatusOr<std::vector<std::string_view>> requireStrings(std::string_view key) const;
  /// An array of any integer type.
  absl::StatusOr<std::vector<int64_t>> requireI64s(std::string_view key) const;
  /// An array of f32, or of f64 rounded to f32.
  absl::StatusOr<std::vector<float>> requireF32s(std::string_view key) const;

  /// All tensors in the file's order.
  std::span<const GgufTensor> tensors() const { return table; }
  /// The tensor of that name, or null.
  const GgufTensor* findTensor(std::string_view name) const;
  /// The tensor of that name, of any shape, in an encoding that Tenon knows.
  absl::StatusOr<const GgufTensor*> requireTensor(std::string_view name) const;
  /// The same; refuses any row-major shape but `shape`.
  absl::StatusOr<const GgufTensor*> requireTensor(std::string_view name,
                                                  std::span<const int64_t> shape) const;
  /// The data of one of this file's tensors: `byteSize` bytes of the mapping.
  std::span<const std::byte> data(const GgufTensor& tensor) const;

private:
  friend class GgufParser;
  explicit GgufFile(std::shared_ptr<const MappedFile> file) : file(std::move(file)) {}

  /// The value of `key`; NotFound where there is none.
  absl::StatusOr<const GgufValue*> require(std::string_view key) const;
  /// `<path>: metadata key '<key>' expects <expected>, but got <found>`.
  absl::Status keyError(std::string_view key, std::string_view expected,
                        const std::string& found) const;

  std::shared_ptr<const MappedFile> file;
  uint32_t formatVersion = 0;
  uint64_t dataAlignment = 32;
  std::vector<GgufMetadata> entries;
  std::vector<GgufTensor> table;
  absl::flat_hash_map<std::string_view, size_t, TextHash> entryIndex;
  absl::flat_hash_map<std::string_view, size_t, TextHash> tensorIndex;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFFILE_H
