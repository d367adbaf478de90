#ifndef TENON_IR_ENCODING_INTERNAL_PLAIN_H
#define TENON_IR_ENCODING_INTERNAL_PLAIN_H

#include <cassert>
#include <cstring>

#include "ir/encoding/Encoding.h"

namespace tenon::encodings {

/// `Encoding::decode` of a plain type: `Bits` is what lies in memory, `convert` makes it a double.
template <typename Bits, auto convert>
void decodePlain(std::span<const std::byte> encoded, std::span<double> values) {
  assert(encoded.size() == values.size() * sizeof(Bits));
  for (size_t i = 0; i < values.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, encoded.data() + i * sizeof(Bits), sizeof(Bits));
    values[i] = convert(bits);
  }
}

/// `Encoding::encode` (from double) or `encodeF32` (from float) of a plain type.
template <typename Value, auto convert>
void encodePlain(std::span<const Value> values, std::span<std::byte> encoded) {
  using Bits = decltype(convert(Value()));
  assert(encoded.size() == values.size() * sizeof(Bits));
  for (size_t i = 0; i < values.size(); ++i) {
    Bits bits = convert(values[i]);
    std::memcpy(encoded.data() + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_PLAIN_H
