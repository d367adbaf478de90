#include "runtime/text/internal/WordEdges.h"

#include <utf8proc.h>

namespace tenon::runtime::internal {
namespace {

struct Character {
  utf8proc_int32_t code; ///< −1 where the bytes are no character
  size_t length;
};

Character firstCharacter(std::string_view text) {
  utf8proc_int32_t code = -1;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length > 0 ? Character{code, size_t(length)} : Character{-1, 1};
}

Character lastCharacter(std::string_view text) {
  constexpr size_t longest = 4;
  for (size_t length = 1; length <= longest && length <= text.size(); ++length) {
    const Character last = firstCharacter(text.substr(text.size() - length));
    if (last.code >= 0 && last.length == length)
      return last;
  }
  return {-1, 1};
}

bool isWordPart(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return code == 0x200C || code == 0x200D; // joiners
  }
}

bool isSpace(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return true;
  default:
    return (code >= '\t' && code <= '\r') || code == 0x85;
  }
}

} // namespace

bool endsWithWord(std::string_view text) {
  const Character last = lastCharacter(text);
  return last.code >= 0 && isWordPart(last.code);
}

bool beginsWithWord(std::string_view text) {
  const Character first = firstCharacter(text);
  return first.code >= 0 && isWordPart(first.code);
}

size_t spacesAtEnd(std::string_view text) {
  size_t length = 0;
  for (Character last = lastCharacter(text); last.code >= 0 && isSpace(last.code);
       last = lastCharacter(text.substr(0, text.size() - length)))
    length += last.length;
  return length;
}

size_t spacesAtBegin(std::string_view text) {
  size_t length = 0;
  for (Character first = firstCharacter(text); first.code >= 0 && isSpace(first.code);
       first = firstCharacter(text.substr(length)))
    length += first.length;
  return length;
}

} // namespace tenon::runtime::internal
