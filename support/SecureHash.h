#ifndef TENON_SUPPORT_SECUREHASH_H
#define TENON_SUPPORT_SECUREHASH_H

#include <string>
#include <string_view>

namespace tenon {

/// The SHA-256 hash of `text` (FIPS 180-4), 32 bytes: for names that nobody may be able to make
/// twice.
std::string hashSecurely(std::string_view text);

} // namespace tenon

#endif // TENON_SUPPORT_SECUREHASH_H
