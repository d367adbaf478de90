#ifndef TENON_RUNTIME_TEXT_INTERNAL_PHILOX_H
#define TENON_RUNTIME_TEXT_INTERNAL_PHILOX_H

#include <array>
#include <cstdint>

namespace tenon::runtime::internal {

/// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): four random
/// 32-bit words from a counter and a key, with integer operations only, so that every machine and
/// device gives the same.
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t(0xD2511F53) * counter[0];
    const uint64_t product1 = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key[0] += 0x9E3779B9; // golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PHILOX_H
