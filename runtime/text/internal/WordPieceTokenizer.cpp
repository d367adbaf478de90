#include "runtime/text/internal/WordPieceTokenizer.h"

#include <utility>

#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

constexpr std::string_view continuingPrefix = "##";
constexpr size_t longestWord = 100; ///< characters (BERT's max_input_chars_per_word)

size_t countCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += readUtf8(text.substr(at)).length)
    ++count;
  return count;
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> WordPieceTokenizer::create(TokenizerSpec spec) {
  TENON_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create(spec));
  return std::unique_ptr<Tokenizer>(
      new WordPieceTokenizer(std::move(spec), std::move(preTokenizer)));
}

WordPieceTokenizer::WordPieceTokenizer(TokenizerSpec given, PreTokenizer preTokenizer)
    : Tokenizer(std::move(given)), preTokenizer(std::move(preTokenizer)) {
  std::vector<PrefixIndex::Entry> whole, parts;
  for (size_t id = 0; id < spec().tokens.size(); ++id) {
    const std::string_view text = spec().tokens[id];
    if (kind(id) != TokenKind::Normal)
      continue;
    whole.push_back({text, int32_t(id)});
    if (text.starts_with(continuingPrefix))
      parts.push_back({text.substr(continuingPrefix.size()), int32_t(id)});
  }
  firsts = PrefixIndex(std::move(whole));
  continuing = PrefixIndex(std::move(parts));
}

bool WordPieceTokenizer::encodeWord(std::string_view word, std::vector<int32_t>& ids) const {
  if (countCharacters(word) > longestWord)
    return false;
  const size_t before = ids.size();
  for (size_t at = 0; at < word.size();) {
    size_t longest = 0;
    int32_t best = -1;
    (at == 0 ? firsts : continuing).forEachPrefix(word.substr(at), [&](size_t length, int32_t id) {
      longest = length;
      best = id;
    });
    if (longest == 0) {
      ids.resize(before);
      return false;
    }
    ids.push_back(best);
    at += longest;
  }
  return true;
}

absl::Status WordPieceTokenizer::encodeText(std::string_view text,
                                            std::vector<int32_t>& ids) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> words, preTokenizer.split(text));
  for (std::string_view word : words) {
    if (encodeWord(word, ids))
      continue;
    if (spec().unknownId < 0)
      return absl::InvalidArgumentError(
          "tokenizer: expects tokens for every word of the text, or one for the unknown");
    ids.push_back(spec().unknownId);
  }
  return absl::OkStatus();
}

std::string WordPieceTokenizer::decodeToken(size_t id) const {
  const std::string& text = spec().tokens[id];
  return text.starts_with(continuingPrefix) ? text.substr(continuingPrefix.size()) : " " + text;
}

} // namespace tenon::runtime::internal
