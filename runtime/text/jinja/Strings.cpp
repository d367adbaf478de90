#include "runtime/text/jinja/Strings.h"

#include <algorithm>
#include <functional>

#include <utf8proc.h>

#include "runtime/text/internal/WordEdges.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

/// `text` with each character, by its number from the front, changed.
static std::string
mapCharacters(std::string_view text,
              const std::function<utf8proc_int32_t(utf8proc_int32_t, size_t)>& change) {
  std::string changed;
  for (size_t at = 0, count = 0; at < text.size(); ++count) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         utf8proc_ssize_t(text.size() - at), &character);
    if (length <= 0) { // a byte that is not UTF-8
      changed += text[at++];
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t written = utf8proc_encode_char(change(character, count), bytes);
    changed.append(reinterpret_cast<const char*>(bytes), size_t(written));
    at += size_t(length);
  }
  return changed;
}

std::string upper(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t) { return utf8proc_toupper(c); });
}
std::string lower(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t) { return utf8proc_tolower(c); });
}
std::string capitalize(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t count) {
    return count == 0 ? utf8proc_toupper(c) : utf8proc_tolower(c);
  });
}
std::string title(std::string_view text) {
  bool isInWord = false;
  return mapCharacters(text, [&](utf8proc_int32_t c, size_t) {
    const bool wasInWord = isInWord;
    const utf8proc_category_t category = utf8proc_category(c);
    isInWord = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    return wasInWord ? utf8proc_tolower(c) : utf8proc_toupper(c);
  });
}

std::string_view strip(std::string_view text, std::string_view set, bool left, bool right) {
  if (set.empty()) {
    if (left)
      text.remove_prefix(internal::spacesAtBegin(text));
    if (right)
      text.remove_suffix(internal::spacesAtEnd(text));
    return text;
  }
  if (left)
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(set)));
  if (right)
    text = text.substr(0, text.find_last_not_of(set) + 1);
  return text;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t count) {
  std::string replaced;
  size_t at = 0;
  for (; count != 0 && !from.empty(); --count) {
    const size_t found = text.find(from, at);
    if (found == text.npos || replaced.size() > Budget::mostTextBytes)
      break;
    (replaced += text.substr(at, found - at)) += to;
    at = found + from.size();
  }
  return replaced += text.substr(at);
}

absl::StatusOr<List> split(std::string_view text, std::string_view separator, int64_t most,
                           Budget& budget) {
  List parts;
  if (separator.empty()) {
    while (true) {
      TENON_RETURN_IF_ERROR(budget.take());
      text.remove_prefix(internal::spacesAtBegin(text));
      if (text.empty())
        return parts;
      if (int64_t(parts.size()) == most) {
        parts.emplace_back(strip(text, "", false, true));
        return parts;
      }
      size_t end = 1;
      while (end < text.size() && internal::spacesAtBegin(text.substr(end)) == 0)
        ++end;
      parts.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  for (size_t found;
       int64_t(parts.size()) != most && (found = text.find(separator)) != text.npos;) {
    TENON_RETURN_IF_ERROR(budget.take());
    parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::string indent(std::string_view text, std::string_view pad, bool first, bool blank) {
  std::string result;
  for (size_t at = 0, line = 0; at <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    if (line == 0 ? first : blank || !content.empty())
      result += pad;
    result += content;
    if (end < text.size())
      result += '\n';
    at = end + 1;
  }
  return result;
}

} // namespace tenon::runtime::jinja
