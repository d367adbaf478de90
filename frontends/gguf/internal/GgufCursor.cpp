#include "frontends/gguf/internal/GgufCursor.h"

#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::frontends {

absl::StatusOr<std::span<const std::byte>> GgufCursor::take(uint64_t length,
                                                            std::string_view what) {
  if (length > remaining())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects %d bytes of %s at offset %d, but the file ends after %d", path,
                        length, what, position, remaining()));
  std::span<const std::byte> taken = bytes.subspan(position, length);
  position += length;
  return taken;
}

absl::StatusOr<std::string_view> GgufCursor::string(std::string_view what) {
  TENON_ASSIGN_OR_RETURN(uint64_t length, number<uint64_t>(what));
  TENON_ASSIGN_OR_RETURN(std::span<const std::byte> text, take(length, what));
  return std::string_view(reinterpret_cast<const char*>(text.data()), text.size());
}

} // namespace tenon::frontends
