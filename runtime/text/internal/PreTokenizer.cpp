#include "runtime/text/internal/PreTokenizer.h"

#include <pcre2.h>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

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

/// Cuts `text` where it changes between valid UTF-8 and other bytes; calls `piece(part, isValid)`.
template <class Piece> absl::Status forEachUtf8Run(std::string_view text, Piece piece) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool isValid = readUtf8(text.substr(at)).kind == Utf8Kind::Valid;
    while (at < text.size()) {
      const Utf8Unit unit = readUtf8(text.substr(at));
      if ((unit.kind == Utf8Kind::Valid) != isValid)
        break;
      at += unit.length;
    }
    TENON_RETURN_IF_ERROR(piece(text.substr(begin, at - begin), isValid));
  }
  return absl::OkStatus();
}

} // namespace

void PreTokenizer::FreeCode::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

/// Applies the patterns one after the other; holds the memory that matching writes to.
class PreTokenizer::Matcher {
public:
  explicit Matcher(const std::vector<Pattern>& patterns)
      : patterns(patterns), match(pcre2_match_data_create(1, nullptr)) {}
  ~Matcher() { pcre2_match_data_free(match); }
  Matcher(const Matcher&) = delete;

  /// Appends the pieces of `text`, valid UTF-8, that the patterns from `first` on leave.
  absl::Status split(size_t first, std::string_view text, std::vector<std::string_view>& pieces) {
    if (text.empty())
      return absl::OkStatus();
    if (first == patterns.size()) {
      pieces.push_back(text);
      return absl::OkStatus();
    }
    size_t at = 0;
    while (at < text.size()) {
      const int found =
          pcre2_match(patterns[first].code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                      text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match, nullptr);
      if (found == PCRE2_ERROR_NOMATCH)
        break;
      if (found < 0)
        return absl::InternalError(absl::StrFormat("pre-tokenizer pattern '%s': %s",
                                                   patterns[first].text, pcre2Message(found)));
      const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match);
      const size_t begin = range[0];
      const size_t end = range[1];
      TENON_RETURN_IF_ERROR(split(first + 1, text.substr(at, begin - at), pieces));
      TENON_RETURN_IF_ERROR(split(first + 1, text.substr(begin, end - begin), pieces));
      at = end;
    }
    return split(first + 1, text.substr(at), pieces);
  }

private:
  const std::vector<Pattern>& patterns;
  pcre2_match_data* match;
};

absl::StatusOr<PreTokenizer> PreTokenizer::create(std::string_view name) {
  if (const PreTokenizerEntry* entry = findPreTokenizer(name))
    return compile(*entry);
  std::string known;
  for (const PreTokenizerEntry& entry : preTokenizers()) {
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "tokenizer: expects one of the pre-tokenizers %s, but got '%s'", known, name));
}

absl::StatusOr<PreTokenizer> PreTokenizer::compile(const PreTokenizerEntry& entry) {
  PreTokenizer preTokenizer;
  preTokenizer.takesWholeTokens = entry.ignoreMerges;
  for (std::string_view pattern : entry.patterns) {
    const std::string translated = useUnicodeSpaces(pattern);
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                      PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
    if (!code)
      return absl::InvalidArgumentError(
          absl::StrFormat("pre-tokenizer '%s', pattern '%s', byte %d: %s", entry.name, translated,
                          offset, pcre2Message(error)));
    preTokenizer.patterns.push_back(
        {std::string(pattern), std::unique_ptr<pcre2_code, FreeCode>(code)});
    // Where PCRE2 has no JIT for this machine, pcre2_match interprets.
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  }
  return preTokenizer;
}

absl::StatusOr<std::vector<std::string_view>> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  Matcher matcher(patterns);
  TENON_RETURN_IF_ERROR(forEachUtf8Run(text, [&](std::string_view run, bool isValid) {
    if (isValid)
      return matcher.split(0, run, pieces);
    pieces.push_back(run);
    return absl::OkStatus();
  }));
  return pieces;
}

} // namespace tenon::runtime::internal
