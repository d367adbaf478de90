#ifndef TENON_IR_ENCODING_INTERNAL_ENCODINGFAMILY_H
#define TENON_IR_ENCODING_INTERNAL_ENCODINGFAMILY_H

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Encoding.h"

namespace tenon::encodings {

/// Encodings that one file of `families/` makes of its parameters, and their descriptions.
struct EncodingFamily {
  std::span<const Encoding* const> encodings;
  std::span<const BlockFormat* const> formats;
};

/// Every family, in a fixed order.
std::span<const EncodingFamily* const> allEncodingFamilies();

/// A name that is put together at compile time.
struct FamilyName {
  std::array<char, 32> letters = {};
  size_t length = 0;

  constexpr FamilyName& operator<<(std::string_view part) {
    for (char letter : part)
      letters[length++] = letter;
    return *this;
  }
  constexpr FamilyName& operator<<(size_t number) {
    if (number >= 10)
      *this << number / 10;
    letters[length++] = static_cast<char>('0' + number % 10);
    return *this;
  }
  constexpr std::string_view view() const { return {letters.data(), length}; }
};

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_ENCODINGFAMILY_H
