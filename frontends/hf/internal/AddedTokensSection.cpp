#include <algorithm>

#include "support/MessageText.h"

#include "frontends/hf/internal/TokenizerSections.h"

namespace tenon::frontends::internal {

using runtime::AddedToken;
using runtime::TokenKind;

namespace {

class AddedTokensReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status readAddedTokens();

private:
  absl::Status readAddedToken(const json& token, const std::string& place);
};

absl::Status AddedTokensReader::readAddedToken(const json& token, const std::string& place) {
  if (!token.is_object())
    return error(place, "an object", token);
  const json* id = JsonFile::find(token, "id");
  uint64_t most = 2 * spec.tokens.size() + 65536;
  if (!id || !id->is_number_unsigned() || id->get<uint64_t>() >= most)
    return error(place + ".id", absl::StrFormat("an id from 0 to %d", most - 1), id ? *id : json());
  AddedToken added{.id = static_cast<int32_t>(id->get<uint64_t>())};
  TENON_ASSIGN_OR_RETURN(std::string content, text(token, place, "content"));
  TENON_ASSIGN_OR_RETURN(added.wholeWord, flag(token, place, "single_word", false));
  TENON_ASSIGN_OR_RETURN(added.stripsLeft, flag(token, place, "lstrip", false));
  TENON_ASSIGN_OR_RETURN(added.stripsRight, flag(token, place, "rstrip", false));
  TENON_ASSIGN_OR_RETURN(bool isSpecial, flag(token, place, "special", false));
  TENON_ASSIGN_OR_RETURN(added.normalized, flag(token, place, "normalized", !isSpecial));
  size_t index = static_cast<size_t>(added.id);
  if (index >= spec.tokens.size()) {
    spec.tokens.resize(index + 1);
    spec.kinds.resize(index + 1, TokenKind::Unused);
    if (!spec.scores.empty())
      spec.scores.resize(index + 1);
  }
  if (spec.kinds[index] != TokenKind::Unused && spec.tokens[index] != content)
    return error(
        place + ".content",
        absl::StrFormat("the text of token %d, %s", added.id, quoteName(spec.tokens[index])),
        content);
  spec.tokens[index] = content;
  spec.kinds[index] = isSpecial ? TokenKind::Control : TokenKind::UserDefined;
  spec.added.push_back(added);
  return absl::OkStatus();
}

absl::Status AddedTokensReader::readAddedTokens() {
  const json* list = file.find("added_tokens");
  if (!list)
    return absl::OkStatus();
  if (!list->is_array())
    return error("added_tokens", "a list", *list);
  for (size_t i = 0; i < list->size(); ++i)
    TENON_RETURN_IF_ERROR(readAddedToken((*list)[i], absl::StrFormat("added_tokens[%d]", i)));
  std::ranges::sort(spec.added, {}, &AddedToken::id);
  auto twice = std::ranges::adjacent_find(spec.added, {}, &AddedToken::id);
  if (twice != spec.added.end())
    return error("added_tokens", "ids that differ", json(twice->id));
  return absl::OkStatus();
}

} // namespace

absl::Status readAddedTokensSection(TokenizerJson& json) {
  return AddedTokensReader(json).readAddedTokens();
}

} // namespace tenon::frontends::internal
