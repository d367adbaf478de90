#include "ir/encoding/Encoding.h"

#include <vector>

#include "ir/encoding/CacheEncoding.h"
#include "ir/encoding/internal/EncodingFamily.h"
#include "ir/encoding/internal/Encodings.h"

namespace tenon {

/// Those with a file of their own.
std::span<const Encoding* const> singleEncodings();

std::span<const Encoding* const> allEncodings() {
  static const auto* const all = [] {
    std::span<const Encoding* const> singles = singleEncodings();
    auto* list = new std::vector<const Encoding*>(singles.begin(), singles.end());
    for (const encodings::EncodingFamily* family : encodings::allEncodingFamilies())
      list->insert(list->end(), family->encodings.begin(), family->encodings.end());
    return list;
  }();
  return *all;
}

const Encoding* findEncoding(std::string_view name) {
  for (const Encoding* encoding : allEncodings())
    if (encoding->name == name)
      return encoding;
  return findCacheEncoding(name);
}

const Encoding* findEncodingOfGgufType(int32_t type) {
  for (const Encoding* encoding : allEncodings())
    if (type >= 0 && encoding->ggufType == type)
      return encoding;
  return nullptr;
}

const Encoding* findActivationEncoding(const Encoding& weight) {
  if (weight.ggufType < 0)
    return nullptr;
  for (const Encoding* activations : {&encodings::q8_s, &encodings::q8_k})
    if (weight.blockSize == activations->blockSize)
      return activations;
  return nullptr;
}

} // namespace tenon
