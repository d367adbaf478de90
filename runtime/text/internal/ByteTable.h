#ifndef TENON_RUNTIME_TEXT_INTERNAL_BYTETABLE_H
#define TENON_RUNTIME_TEXT_INTERNAL_BYTETABLE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::runtime::internal {

/// GPT-2's bijection between bytes and printable characters (`bytes_to_unicode` in
/// github.com/openai/gpt-2, src/encoder.py): bytes that are printable in Latin-1 are themselves,
/// the other 68 are U+0100 to U+0143 in ascending order. A space is U+0120.
///
/// The character for `byte`, as UTF-8 of one or two bytes.
std::string characterOfByte(uint8_t byte);

/// The bytes that the characters of `text` stand for. Characters outside the table are copied.
std::string bytesOfCharacters(std::string_view text);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_BYTETABLE_H
