#include "runtime/text/internal/Pattern.h"

#include <pcre2.h>

#include "absl/strings/str_format.h"

namespace tenon::runtime::internal {
namespace {

/// PCRE2's `\s` also matches U+180E; the tokenisers' own engines (Rust, Python's `regex`) mean
/// Unicode's White_Space. Holds inside of brackets too.
std::string useUnicodeSpaces(std::string_view pattern) {
  std::string translated;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      translated += pattern[i];
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's')
      translated += "\\p{White_Space}";
    else if (escaped == 'S')
      translated += "\\P{White_Space}";
    else
      translated += {'\\', escaped};
  }
  return translated;
}

std::string pcre2Message(int error) {
  unsigned char buffer[256] = {};
  pcre2_get_error_message(error, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

} // namespace

void Pattern::FreeCode::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

absl::StatusOr<Pattern> Pattern::compile(std::string_view owner, std::string_view text) {
  if (text.size() > maxBytes)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a pattern of at most %d bytes, but got %d", owner, maxBytes, text.size()));
  const std::string translated = useUnicodeSpaces(text);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  if (!code)
    return absl::InvalidArgumentError(absl::StrFormat("%s, pattern '%s', byte %d: %s", owner,
                                                      translated, offset, pcre2Message(error)));
  Pattern pattern;
  pattern.text = std::string(text);
  pattern.code.reset(code);
  // Where PCRE2 has no JIT for this machine, pcre2_match interprets.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return pattern;
}

absl::Status Pattern::forEachMatch(std::string_view subject,
                                   const std::function<void(size_t, size_t)>& match) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  for (size_t at = 0; at < subject.size();) {
    const int found =
        pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), at,
                    PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH)
      break;
    if (found < 0)
      return absl::InvalidArgumentError(
          absl::StrFormat("tokenizer: pattern '%s': %s", text, pcre2Message(found)));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data.get());
    match(range[0], range[1]);
    at = range[1];
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime::internal
