#include "support/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon {

uint64_t hashBytes(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace tenon
