#include "ir/encoding/Encoding.h"

#include "ir/encoding/internal/Encodings.h"

namespace tenon {

static constexpr const Encoding* encodingList[] = {
    &encodings::f32,  &encodings::f16,  &encodings::bf16, &encodings::i32,  &encodings::q8_0,
    &encodings::q4_0, &encodings::q4_1, &encodings::q5_0, &encodings::q5_1, &encodings::q2_k,
    &encodings::q3_k, &encodings::q4_k, &encodings::q5_k, &encodings::q6_k, &encodings::iq4_nl,
    &encodings::q8_s, &encodings::q8_k,
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

const Encoding* findActivationEncoding(const Encoding& weight) {
  for (const Encoding* activations : {&encodings::q8_s, &encodings::q8_k})
    if (weight.blockSize == activations->blockSize)
      return activations;
  return nullptr;
}

} // namespace tenon
