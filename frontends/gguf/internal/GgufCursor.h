#ifndef TENON_FRONTENDS_GGUF_INTERNAL_GGUFCURSOR_H
#define TENON_FRONTENDS_GGUF_INTERNAL_GGUFCURSOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon::frontends {

/// A position in a file's bytes that never moves past their end.
class GgufCursor {
public:
  /// `path` names the file in errors and must outlive the cursor.
  GgufCursor(const std::string& path, std::span<const std::byte> bytes)
      : path(path), bytes(bytes) {}

  /// The position in bytes from the file's first.
  uint64_t offset() const { return position; }
  /// Bytes from the position to the file's end.
  uint64_t remaining() const { return bytes.size() - position; }

  /// The next `length` bytes. `what` names them in the error: `<path>: expects <length> bytes of
  /// <what> at offset <offset>, but the file ends after <remaining>`.
  absl::StatusOr<std::span<const std::byte>> take(uint64_t length, std::string_view what);

  /// The next little-endian number of type `T`.
  template <typename T> absl::StatusOr<T> number(std::string_view what) {
    absl::StatusOr<std::span<const std::byte>> raw = take(sizeof(T), what);
    if (!raw.ok())
      return raw.status();
    T value;
    std::memcpy(&value, raw->data(), sizeof(T));
    return value;
  }

  /// The next string: a 64-bit length and that many bytes.
  absl::StatusOr<std::string_view> string(std::string_view what);

private:
  const std::string& path;
  std::span<const std::byte> bytes;
  uint64_t position = 0;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_INTERNAL_GGUFCURSOR_H
