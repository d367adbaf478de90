#ifndef TENON_RUNTIME_PROGRAM_INTERNAL_FILEFORMAT_H
#define TENON_RUNTIME_PROGRAM_INTERNAL_FILEFORMAT_H

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "support/Hash.h"

namespace tenon::runtime::internal {

static_assert(std::endian::native == std::endian::little, ".tnn files are mapped as they are");

inline constexpr std::string_view fileMagic{"\x89TENON\r\n", 8};
/// Raised by every change that an older reader would misunderstand.
inline constexpr uint32_t formatVersion = 7;
inline constexpr uint32_t byteOrderMark = 0x01020304;
inline constexpr uint64_t pageBytes = 4096;

/// The first bytes of a `.tnn` file. Magic, version and byte order keep their place in every
/// version.
struct FileHeader {
  std::array<char, 8> magic{};
  uint32_t version = formatVersion;
  uint32_t byteOrder = byteOrderMark;
  uint64_t fileBytes = 0;
  uint64_t metadataOffset = 0;
  uint64_t metadataBytes = 0;
  uint64_t metadataHash = 0;
  uint64_t headerHash = 0; ///< of the 48 bytes before it

  uint64_t computeHash() const {
    return hashBytes(std::as_bytes(std::span(this, 1)).first(offsetof(FileHeader, headerHash)));
  }
};
static_assert(sizeof(FileHeader) == 56);

/// The first multiple of the page size that is not below `offset`, which is at most 2^63.
constexpr uint64_t nextPage(uint64_t offset) {
  return (offset + pageBytes - 1) / pageBytes * pageBytes;
}

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_PROGRAM_INTERNAL_FILEFORMAT_H
