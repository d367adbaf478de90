#include "runtime/text/internal/ByteTable.h"

#include <array>

#include "runtime/text/internal/Utf8.h"

namespace tenon::runtime::internal {
namespace {

/// All characters of the table lie below this.
constexpr uint32_t characterLimit = 0x144;

struct ByteTable {
  std::array<uint16_t, 256> characters = {};
  /// −1 for characters that stand for no byte.
  std::array<int16_t, characterLimit> bytes = {};
};

constexpr bool isPrintable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr ByteTable makeTable() {
  ByteTable table;
  table.bytes.fill(-1);
  uint16_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    table.characters[byte] = isPrintable(byte) ? uint16_t(byte) : next++;
    table.bytes[table.characters[byte]] = int16_t(byte);
  }
  return table;
}

constexpr ByteTable byteTable = makeTable();

} // namespace

std::string characterOfByte(uint8_t byte) {
  const uint16_t character = byteTable.characters[byte];
  if (character < 0x80)
    return std::string(1, char(character));
  return {char(0xC0 | character >> 6), char(0x80 | (character & 0x3F))};
}

std::string bytesOfCharacters(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const auto [unitKind, length] = readUtf8(text.substr(at));
    uint32_t character = characterLimit;
    if (unitKind == Utf8Kind::Valid && length == 1)
      character = uint8_t(text[at]);
    else if (unitKind == Utf8Kind::Valid && length == 2)
      character = uint32_t(text[at] & 0x1F) << 6 | uint32_t(text[at + 1] & 0x3F);
    if (character < characterLimit && byteTable.bytes[character] >= 0)
      bytes += char(byteTable.bytes[character]);
    else
      bytes += text.substr(at, length);
    at += length;
  }
  return bytes;
}

} // namespace tenon::runtime::internal
