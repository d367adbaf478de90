#include "frontends/hf/internal/TokenizerSections.h"

#include "absl/strings/ascii.h"

namespace tenon::frontends::internal {
namespace {

/// A regular expression that matches `text` alone.
std::string quotePattern(std::string_view text) {
  std::string quoted;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && !absl::ascii_isalnum(static_cast<unsigned char>(c)))
      quoted += '\\';
    quoted += c;
  }
  return quoted;
}

} // namespace

absl::StatusOr<std::string> SectionReader::typeOf(const json& step,
                                                  const std::string& place) const {
  if (!step.is_object())
    return error(place, "an object", step);
  return text(step, place, "type");
}

absl::StatusOr<std::string> SectionReader::readPattern(const json& step,
                                                       const std::string& place) const {
  std::string patternPlace = place + ".pattern";
  const json* pattern = JsonFile::find(step, "pattern");
  if (!pattern || !pattern->is_object())
    return error(patternPlace, "an object with a Regex or a String", pattern ? *pattern : json());
  TENON_ASSIGN_OR_RETURN(std::string literal, text(*pattern, patternPlace, "String"));
  if (!literal.empty())
    return quotePattern(literal);
  TENON_ASSIGN_OR_RETURN(std::string regex, text(*pattern, patternPlace, "Regex"));
  if (regex.empty())
    return error(patternPlace, "a Regex or a String that is not empty", *pattern);
  // What Oniguruma, the engine of `tokenizers`, means by these, PCRE2 does not.
  for (std::string_view foreign : {"\\h", "\\H", "\\w", "\\W", "\\b", "\\B", "&&", "(?m"})
    if (regex.find(foreign) != regex.npos)
      return error(patternPlace + ".Regex", absl::StrFormat("a pattern without '%s'", foreign),
                   regex);
  // `^` and `$` are those of lines to Oniguruma.
  return "(?m)" + regex;
}

} // namespace tenon::frontends::internal
