#ifndef TENON_SUPPORT_MESSAGETEXT_H
#define TENON_SUPPORT_MESSAGETEXT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// `text`, which comes from a file, in single quotes for a message: control characters, quotes and
/// backslashes escaped as in C, cut after 100 bytes. Bytes from 0x80 stay as they are.
std::string quoteName(std::string_view text);

/// `[4, 8]`.
std::string shapeText(std::span<const int64_t> shape);

} // namespace tenon

#endif // TENON_SUPPORT_MESSAGETEXT_H
