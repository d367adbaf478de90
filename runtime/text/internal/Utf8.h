#ifndef TENON_RUNTIME_TEXT_INTERNAL_UTF8_H
#define TENON_RUNTIME_TEXT_INTERNAL_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string_view>

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

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_UTF8_H
