#ifndef TENON_RUNTIME_TEXT_INTERNAL_UTF8_H
#define TENON_RUNTIME_TEXT_INTERNAL_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace tenon::runtime::internal {

enum class Utf8Kind : uint8_t {
  Valid,     ///< one whole character
  Invalid,   ///< bytes that start no character, whatever follows
  Truncated, ///< the start of a character that more bytes could complete
};

/// What the first bytes of a text are, and how many they are (at least 1).
struct Utf8Unit {
  Utf8Kind kind;
  size_t length;
};

/// Reads the first unit of `text`, which must not be empty. Well-formed sequences are those of
/// table 3-7 of the Unicode Standard; the length of an invalid or truncated unit is that of the
/// maximal subpart (section 3.9, "U+FFFD Substitution of Maximal Subparts").
Utf8Unit readUtf8(std::string_view text);

/// Cuts `text` where it changes between valid UTF-8 and other bytes; calls `run(part, isValid)`,
/// which returns a status.
template <class Run> absl::Status forEachUtf8Run(std::string_view text, Run run) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool isValid = readUtf8(text.substr(at)).kind == Utf8Kind::Valid;
    while (at < text.size()) {
      const Utf8Unit unit = readUtf8(text.substr(at));
      if ((unit.kind == Utf8Kind::Valid) != isValid)
        break;
      at += unit.length;
    }
    if (absl::Status status = run(text.substr(begin, at - begin), isValid); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_UTF8_H
