#ifndef TENON_SUPPORT_FINGERPRINT_H
#define TENON_SUPPORT_FINGERPRINT_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon {

/// A 64-bit hash that tells model files apart without reading all of them: XXH3 over the size, the
/// first and last MiB and 256 pages of 4 KiB spread evenly between them. A file of at most 4 MiB
/// is hashed whole. It finds another model or another version, not every single changed byte.
uint64_t fingerprintFile(std::span<const std::byte> bytes);

} // namespace tenon

#endif // TENON_SUPPORT_FINGERPRINT_H
