#ifndef TENON_RUNTIME_TEXT_INTERNAL_SPACESYMBOL_H
#define TENON_RUNTIME_TEXT_INTERNAL_SPACESYMBOL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::runtime::internal {

/// U+2581, which stands for a space in SentencePiece's vocabularies.
inline constexpr std::string_view spaceSymbol = "\u2581";

/// The text of a token with spaces in place of U+2581.
std::string readSpaces(std::string_view text);

/// The byte that a byte token's text, `<0x0A>`, names.
std::optional<uint8_t> parseByteToken(std::string_view text);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_SPACESYMBOL_H
