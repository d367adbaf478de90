#include "ir/encoding/BlockFormat.h"

namespace tenon {

const BlockFormat* findBlockFormat(std::string_view encoding) {
  for (const BlockFormat* format : allBlockFormats())
    if (format->encoding == encoding)
      return format;
  return nullptr;
}

} // namespace tenon
