#ifndef TENON_FRONTENDS_GGUF_GGUFWRITER_H
#define TENON_FRONTENDS_GGUF_GGUFWRITER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/gguf/GgufValue.h"
#include "ir/encoding/Encoding.h"
#include "support/MappedFile.h"
#include "support/OutputFile.h"

namespace tenon::frontends {

/// Writes a GGUF file of version 3 with an alignment of 32, front to back: first all metadata and
/// the table of tensors, then the tensors' data in the table's order, in pieces of any size. Holds
/// the header in memory, never the data.
///
///     auto writer = GgufWriter::create("m.gguf");
///     (*writer)->addString("general.architecture", "llama");
///     (*writer)->addTensor("output_norm.weight", {2048}, f32);
///     (*writer)->append(bytes);   // as often as needed, 2048 · 4 bytes in all
///     (*writer)->finish();
///
/// The file is an `OutputFile`: it takes its name in `finish`, and a writer destroyed before that
/// leaves nothing. Errors name the file.
class GgufWriter {
public:
  static absl::StatusOr<std::unique_ptr<GgufWriter>> create(const std::string& path);
  /// A writer of a file in memory alone, which `finishInMemory` returns; `name` stands for its
  /// path.
  static std::unique_ptr<GgufWriter> createInMemory(const std::string& name);
  GgufWriter(const GgufWriter&) = delete;
  GgufWriter& operator=(const GgufWriter&) = delete;

  /// Metadata, in the file's order. All before the first `append`; each key once.
  void addU32(std::string_view key, uint32_t value);
  void addF32(std::string_view key, float value);
  void addBool(std::string_view key, bool value);
  void addString(std::string_view key, std::string_view value);
  void addI32s(std::string_view key, std::span<const int32_t> values);
  void addF32s(std::string_view key, std::span<const float> values);
  void addStrings(std::string_view key, std::span<const std::string> values);
  /// A value as another file holds it, of any type.
  void addValue(std::string_view key, const GgufValue& value);

  /// A row of the tensor table, before the first `append`; each name once. `shape` is row-major,
  /// every length at least 1. Refuses rows that are no whole blocks of `encoding`, more than 4
  /// axes, and a type that GGUF has no number for.
  absl::Status addTensor(std::string_view name, std::span<const int64_t> shape,
                         const Encoding& encoding);

  /// The next bytes of the tensors' data; one call may end a tensor and start the next. Refuses
  /// more than the tensors hold.
  absl::Status append(std::span<const std::byte> bytes);

  /// In memory: what is missing of the tensor that the next byte belongs to, as zeros that take no
  /// memory. Refuses if no tensor is left.
  absl::Status appendHole();

  /// Gives the complete file its name. Refuses if data are missing.
  absl::Status finish();
  /// The complete file in memory. Refuses if data are missing.
  absl::StatusOr<std::shared_ptr<const MappedFile>> finishInMemory();

private:
  struct Tensor {
    std::string name;
    uint64_t byteSize;
  };

  explicit GgufWriter(const std::string& path) : path(path) {}
  absl::Status writeHeader();
  absl::Status write(std::span<const std::byte> bytes);
  absl::Status checkComplete();

  std::string path;
  std::unique_ptr<OutputFile> file; ///< null in memory
  /// In memory: what was written, and where the next byte goes.
  std::vector<MappedFile::Piece> pieces;
  uint64_t position = 0;
  bool headerWritten = false;
  uint64_t metadataCount = 0;
  std::string metadata;
  std::string tensorTable;
  std::vector<Tensor> tensors;
  /// Length of the data section up to here as declared, padding included.
  uint64_t dataBytes = 0;
  /// The tensor that the next byte belongs to, and how many of its bytes have been written.
  size_t currentTensor = 0;
  uint64_t currentBytes = 0;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFWRITER_H
