#ifndef TENON_FRONTENDS_GGUF_INTERNAL_GGUFPARSER_H
#define TENON_FRONTENDS_GGUF_INTERNAL_GGUFPARSER_H

#include <string>

#include "absl/status/status.h"

#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/internal/GgufCursor.h"

namespace tenon::frontends {

/// Fills a `GgufFile` from its mapped bytes, checking everything on the way:
///
///     magic "GGUF" | version u32 | tensor count u64 | metadata count u64
///     metadata:  key string | type u32 | value
///     tensors:   name string | axes u32 | ne u64 × axes | type u32 | offset u64
///     padding to the alignment | data
///
/// Memory stays below a small multiple of the file's size whatever the counts say: nothing is
/// reserved ahead, and each entry grows only by what was read.
class GgufParser {
public:
  explicit GgufParser(GgufFile& file) : file(file), cursor(file.path(), file.file->bytes()) {}

  absl::Status parse();

private:
  absl::Status parseHeader();
  absl::Status checkCount(uint64_t count, uint64_t leastBytes, std::string_view what) const;
  absl::Status parseMetadata();
  absl::StatusOr<GgufValue> parseValue(GgufValueType type, const std::string& what);
  /// The array at the cursor, which lies in `depth` others.
  absl::StatusOr<GgufValue> parseArray(const std::string& what, int depth);
  absl::Status findAlignment();
  absl::Status parseTensorTable();
  absl::StatusOr<GgufTensor> parseTensor(uint64_t index);
  absl::Status parseAxes(GgufTensor& tensor, const std::string& what);
  /// Sets `byteSize` where the encoding is known.
  absl::Status measure(GgufTensor& tensor, const std::string& what) const;
  /// Turns the offsets within the data section into absolute ones.
  absl::Status placeTensors();

  absl::Status invalid(const std::string& text) const {
    return absl::InvalidArgumentError(file.path() + ": " + text);
  }

  GgufFile& file;
  GgufCursor cursor;
  uint64_t tensorCount = 0;
  uint64_t metadataCount = 0;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_INTERNAL_GGUFPARSER_H
