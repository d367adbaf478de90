#include "runtime/text/internal/SpaceSymbol.h"

#include <algorithm>

namespace tenon::runtime::internal {

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

std::optional<uint8_t> parseByteToken(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>')
    return std::nullopt;
  const int high = hexDigit(text[3]);
  const int low = hexDigit(text[4]);
  if (high < 0 || low < 0)
    return std::nullopt;
  return uint8_t(high * 16 + low);
}

std::string readSpaces(std::string_view text) {
  std::string decoded;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(spaceSymbol, at), text.size());
    decoded += text.substr(at, space - at);
    if (space < text.size())
      decoded += ' ';
    at = space + spaceSymbol.size();
  }
  return decoded;
}

} // namespace tenon::runtime::internal
