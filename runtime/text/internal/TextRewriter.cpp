#include "runtime/text/internal/TextRewriter.h"

#include <cstdlib>
#include <utf8proc.h>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

using FreeText = decltype([](utf8proc_uint8_t* text) { std::free(text); });

/// `text`, valid UTF-8, by utf8proc.
absl::StatusOr<std::string> mapUnicode(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &mapped, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, FreeText> owner(mapped);
  if (length < 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: normalising the text: %s", utf8proc_errmsg(length)));
  return std::string(reinterpret_cast<const char*>(mapped), static_cast<size_t>(length));
}

/// Calls `change` with each character of `text`, valid UTF-8; what it appends is the result.
template <class Change> std::string mapCharacters(std::string_view text, Change change) {
  std::string changed;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &character);
    change(character, text.substr(at, size_t(length)), changed);
    at += size_t(length);
  }
  return changed;
}

void appendLowercase(utf8proc_int32_t character, std::string_view, std::string& text) {
  constexpr utf8proc_int32_t capitalIWithDot = 0x130;
  if (character == capitalIWithDot) { // the one letter whose lower case is two
    text += "i\u0307";
    return;
  }
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(utf8proc_tolower(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), size_t(length));
}

void appendUnlessMark(utf8proc_int32_t character, std::string_view bytes, std::string& text) {
  const utf8proc_category_t category = utf8proc_category(character);
  if (category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
      category != UTF8PROC_CATEGORY_ME)
    text += bytes;
}

absl::StatusOr<std::string> applyUnicode(RewriteKind kind, std::string_view text) {
  switch (kind) {
  case RewriteKind::Nfc:
    return mapUnicode(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  case RewriteKind::Nfd:
    return mapUnicode(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  case RewriteKind::Nfkc:
    return mapUnicode(text, UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE);
  case RewriteKind::Nfkd:
    return mapUnicode(text, UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE);
  case RewriteKind::Lowercase:
    return mapCharacters(text, appendLowercase);
  case RewriteKind::StripMarks:
    return mapCharacters(text, appendUnlessMark);
  case RewriteKind::Replace:
  case RewriteKind::Prepend:
  case RewriteKind::Prefix:
  case RewriteKind::PrefixFirst:
  case RewriteKind::Charsmap:
  case RewriteKind::CharsmapOfClusters:
    break;
  }
  return std::string(text);
}

/// Every match of `pattern` by `content`.
absl::StatusOr<std::string> replaceAll(const Pattern& pattern, std::string_view text,
                                       std::string_view content) {
  std::string replaced;
  size_t copied = 0;
  TENON_RETURN_IF_ERROR(pattern.forEachMatch(text, [&](size_t begin, size_t end) {
    replaced += text.substr(copied, begin - copied);
    replaced += content;
    copied = end;
  }));
  replaced += text.substr(copied);
  return replaced;
}

absl::Status checkLength(const std::string& text) {
  if (text.size() <= Tokenizer::maxTextBytes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("tokenizer: expects a text of at most %d bytes after its normaliser, but got "
                      "%d",
                      Tokenizer::maxTextBytes, text.size()));
}

} // namespace

absl::StatusOr<TextRewriter> TextRewriter::create(const std::vector<RewriteStep>& given) {
  TextRewriter rewriter;
  for (const RewriteStep& step : given) {
    if (step.kind > RewriteKind::CharsmapOfClusters)
      return absl::InvalidArgumentError(
          absl::StrFormat("tokenizer: expects kinds of rewriting from 0 to %d, but got %d",
                          int(RewriteKind::CharsmapOfClusters), int(step.kind)));
    Step& added = rewriter.steps.emplace_back(Step{step, nullptr, nullptr});
    if (step.kind == RewriteKind::Charsmap || step.kind == RewriteKind::CharsmapOfClusters) {
      TENON_ASSIGN_OR_RETURN(Charsmap charsmap, Charsmap::create(std::move(added.step.content)));
      added.charsmap = std::make_unique<Charsmap>(std::move(charsmap));
    }
    if (step.kind != RewriteKind::Replace)
      continue;
    TENON_ASSIGN_OR_RETURN(Pattern pattern, Pattern::compile("normaliser", step.pattern));
    added.pattern = std::make_unique<Pattern>(std::move(pattern));
  }
  return rewriter;
}

absl::StatusOr<std::string> TextRewriter::rewriteRun(const Step& step, std::string_view run) {
  if (step.pattern)
    return replaceAll(*step.pattern, run, step.step.content);
  if (step.charsmap)
    return step.step.kind == RewriteKind::Charsmap ? step.charsmap->rewrite(run)
                                                   : step.charsmap->rewriteClusters(run);
  return applyUnicode(step.step.kind, run);
}

absl::StatusOr<std::string> TextRewriter::rewrite(std::string_view given, bool isFirst) const {
  std::string text(given);
  for (const Step& step : steps) {
    const std::string& content = step.step.content;
    const RewriteKind kind = step.step.kind;
    if (kind == RewriteKind::Prepend) {
      if (!text.empty())
        text.insert(0, content);
    } else if (kind == RewriteKind::Prefix || kind == RewriteKind::PrefixFirst) {
      if ((isFirst || kind == RewriteKind::Prefix) && !text.empty() && !text.starts_with(content))
        text.insert(0, content);
    } else {
      std::string changed;
      TENON_RETURN_IF_ERROR(
          forEachUtf8Run(text, [&](std::string_view run, bool isValid) -> absl::Status {
            if (!isValid) {
              changed += run;
              return absl::OkStatus();
            }
            TENON_ASSIGN_OR_RETURN(const std::string part, rewriteRun(step, run));
            changed += part;
            return checkLength(changed);
          }));
      text = std::move(changed);
    }
    TENON_RETURN_IF_ERROR(checkLength(text));
  }
  return text;
}

} // namespace tenon::runtime::internal
