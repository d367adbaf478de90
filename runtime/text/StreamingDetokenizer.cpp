#include "runtime/text/StreamingDetokenizer.h"

#include <utility>

#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

constexpr const char* replacementCharacter = "\uFFFD";

} // namespace

absl::StatusOr<std::string> StreamingDetokenizer::push(int32_t id) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, tokenizer->decode(id));
  pending += bytes;
  std::string text;
  size_t at = 0;
  while (at < pending.size()) {
    const internal::Utf8Unit unit = internal::readUtf8(std::string_view(pending).substr(at));
    if (unit.kind == internal::Utf8Kind::Truncated)
      break;
    if (unit.kind == internal::Utf8Kind::Valid)
      text.append(pending, at, unit.length);
    else
      text += replacementCharacter;
    at += unit.length;
  }
  pending.erase(0, at);
  return text;
}

std::string StreamingDetokenizer::flush() {
  const bool isHeldBack = !std::exchange(pending, {}).empty();
  return isHeldBack ? replacementCharacter : "";
}

} // namespace tenon::runtime
