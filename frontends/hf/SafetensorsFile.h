#ifndef TENON_FRONTENDS_HF_SAFETENSORSFILE_H
#define TENON_FRONTENDS_HF_SAFETENSORSFILE_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "ir/encoding/Encoding.h"
#include "support/MappedFile.h"

namespace tenon::frontends {

/// A tensor of a safetensors file.
struct SafetensorsTensor {
  std::string name;
  std::string type; ///< `F32`, `BF16`, as the file has it
  /// How the values are stored, or null where Tenon does not know the type.
  const Encoding* encoding = nullptr;
  std::vector<int64_t> shape; ///< row-major
  uint64_t offset = 0;        ///< of the data, in bytes from the file's first
  uint64_t byteSize = 0;
};

/// A safetensors file (github.com/huggingface/safetensors, its README on the format): the length of
/// the header, 64 bits, little-endian; the header, an object of JSON with type, shape and
/// `data_offsets` of each tensor; the data. Read without trust: every length, offset and size is
/// checked against the file.
class SafetensorsFile {
public:
  /// Maps and checks the file at `path`. Errors name the file, the tensor, what was expected and
  /// what was found.
  static absl::StatusOr<SafetensorsFile> open(const std::string& path);
  /// Checks a file that is mapped already.
  static absl::StatusOr<SafetensorsFile> create(std::shared_ptr<const MappedFile> mapped);

  const std::shared_ptr<const MappedFile>& mapping() const { return file; }
  /// All tensors, in the order of their data.
  std::span<const SafetensorsTensor> tensors() const { return table; }

private:
  explicit SafetensorsFile(std::shared_ptr<const MappedFile> file) : file(std::move(file)) {}

  std::shared_ptr<const MappedFile> file;
  std::vector<SafetensorsTensor> table;
};

/// Whether a file that begins with `head` may be one.
bool isSafetensorsHead(std::span<const std::byte> head);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_SAFETENSORSFILE_H
