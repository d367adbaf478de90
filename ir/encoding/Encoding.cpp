#include "ir/encoding/Encoding.h"

#include "ir/encoding/internal/Encodings.h"

namespace tenon {

const Encoding* findEncoding(std::string_view name) {
  for (const Encoding* encoding : allEncodings())
    if (encoding->name == name)
      return encoding;
  return nullptr;
}

const Encoding* findEncodingOfGgufType(int32_t type) {
  for (const Encoding* encoding : allEncodings())
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
