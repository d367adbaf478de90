#include "ir/encoding/BlockFormat.h"

#include <vector>

#include "ir/encoding/internal/EncodingFamily.h"

namespace tenon {

/// Those with a file of their own.
std::span<const BlockFormat* const> singleBlockFormats();

std::span<const BlockFormat* const> allBlockFormats() {
  static const auto* const all = [] {
    std::span<const BlockFormat* const> singles = singleBlockFormats();
    auto* list = new std::vector<const BlockFormat*>(singles.begin(), singles.end());
    for (const encodings::EncodingFamily* family : encodings::allEncodingFamilies())
      list->insert(list->end(), family->formats.begin(), family->formats.end());
    return list;
  }();
  return *all;
}

const BlockFormat* findBlockFormat(std::string_view encoding) {
  for (const BlockFormat* format : allBlockFormats())
    if (format->encoding == encoding)
      return format;
  return nullptr;
}

} // namespace tenon
