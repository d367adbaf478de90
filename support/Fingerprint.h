#ifndef TENON_SUPPORT_FINGERPRINT_H
#define TENON_SUPPORT_FINGERPRINT_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "support/MappedFile.h"

namespace tenon {

/// A 64-bit hash of a model file, all of it: XXH3 over the size and the XXH3 hashes of its pieces
/// of 16 MiB, which all cores compute. Any damage changes it; it does not resist an adversary.
uint64_t fingerprintFile(std::span<const std::byte> bytes);

/// The same, read once a file: a stamp in the cache folder (`cacheFolder`) keeps the fingerprint of
/// the file's identity, and so does this process. A file that was changed in the last two seconds
/// has no stamp, since clocks of file systems are coarse. 0 for memory that is no file.
uint64_t fingerprintFile(const MappedFile& file);

} // namespace tenon

#endif // TENON_SUPPORT_FINGERPRINT_H
