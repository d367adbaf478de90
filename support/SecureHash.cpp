#include "support/SecureHash.h"

#include <array>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"

namespace tenon {

std::string hashSecurely(std::string_view text) {
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

} // namespace tenon
