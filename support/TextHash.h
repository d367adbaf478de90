#ifndef TENON_SUPPORT_TEXTHASH_H
#define TENON_SUPPORT_TEXTHASH_H

#include <cstddef>
#include <string_view>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace tenon {

/// The hash of tables whose keys come from files of strangers: seeded where the process lies in
/// memory, so that nobody can make keys that collide. Abseil's tables take `std::hash`, whose values
/// anybody can compute, for `std::string_view` where `absl::string_view` is a type of its own.
struct TextHash {
  size_t operator()(std::string_view text) const {
    return absl::Hash<absl::string_view>()(absl::string_view(text.data(), text.size()));
  }
};

} // namespace tenon

#endif // TENON_SUPPORT_TEXTHASH_H
