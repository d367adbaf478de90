#include "ir/encoding/Encoding.h"

#include "ir/encoding/internal/Encodings.h"

namespace tenon {

static constexpr const Encoding* encodingList[] = {
    &encodings::f32, &encodings::f16,  &encodings::bf16,
    &encodings::i32, &encodings::q8_0, &encodings::q4_0,
};

std::span<const Encoding* const> allEncodings() { return encodingList; }

const Encoding* findEncoding(std::string_view name) {
  for (const Encoding* encoding : encodingList)
    if (encoding->name == name)
      return encoding;
  return nullptr;
}

const Encoding* findEncodingOfGgufType(int32_t type) {
  for (const Encoding* encoding : encodingList)
    if (type >= 0 && encoding->ggufType == type)
      return encoding;
  return nullptr;
}

} // namespace tenon
