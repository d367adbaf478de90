#ifndef TENON_SUPPORT_HASH_H
#define TENON_SUPPORT_HASH_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon {

/// The 64-bit XXH3 hash of `bytes` (xxHash, Yann Collet). Stable across processes and machines;
/// it detects damage and names content, it does not resist an adversary.
uint64_t hashBytes(std::span<const std::byte> bytes);

} // namespace tenon

#endif // TENON_SUPPORT_HASH_H
