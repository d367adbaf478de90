#include <algorithm>
#include <set>

#include "frontends/hf/internal/TokenizerSections.h"

namespace tenon::frontends::internal {

using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;

namespace {

/// Reads the model: its kind, its vocabulary and its merges.
class ModelReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status readModel();

private:
  absl::Status readBpe(const json& model);
  absl::Status readUnigram(const json& model);
  absl::Status readWordPiece(const json& model);
  absl::Status readVocabulary(const json& model);
  absl::Status readScoredVocabulary(const json& model);
  absl::Status readUnknownToken(const json& model);
  absl::Status readMerges(const json& model);
};

absl::Status ModelReader::readVocabulary(const json& model) {
  const json* vocabulary = JsonFile::find(model, "vocab");
  if (!vocabulary || !vocabulary->is_object() || vocabulary->empty())
    return error("model.vocab", "an object with tokens", vocabulary ? *vocabulary : json());
  const json* added = file.find("added_tokens");
  // Ids may have gaps, but a file cannot ask for more memory than in proportion to its size.
  uint64_t most = 2 * (vocabulary->size() + (added ? added->size() : 0)) + 65536;
  spec.tokens.reserve(vocabulary->size());
  for (const auto& [token, id] : vocabulary->items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= most)
      return error(absl::StrCat("model.vocab.", token),
                   absl::StrFormat("an id from 0 to %d", most - 1), id);
    size_t place = id.get<uint64_t>();
    if (place >= spec.tokens.size()) {
      spec.tokens.resize(place + 1);
      spec.kinds.resize(place + 1, TokenKind::Unused);
    }
    if (spec.kinds[place] != TokenKind::Unused)
      return error(absl::StrCat("model.vocab.", token), "an id of its own", id);
    spec.tokens[place] = token;
    spec.kinds[place] = TokenKind::Normal;
  }
  return absl::OkStatus();
}

absl::Status ModelReader::readMerges(const json& model) {
  const json* merges = JsonFile::find(model, "merges");
  if (!merges || !merges->is_array())
    return error("model.merges", "a list", merges ? *merges : json());
  spec.merges.reserve(merges->size());
  for (size_t rank = 0; rank < merges->size(); ++rank) {
    const json& merge = (*merges)[rank];
    std::string place = absl::StrFormat("model.merges[%d]", rank);
    if (merge.is_string()) {
      spec.merges.push_back(merge.get<std::string>());
      continue;
    }
    bool isPair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!isPair)
      return error(place, "'left right' or a pair of strings", merge);
    const auto& left = merge[0].get_ref<const std::string&>();
    const auto& right = merge[1].get_ref<const std::string&>();
    if (left.find(' ') != left.npos || right.find(' ') != right.npos)
      return error(place, "tokens without spaces", json(left + "', '" + right));
    spec.merges.push_back(absl::StrCat(left, " ", right));
  }
  return absl::OkStatus();
}

/// A list of [token, score]; the place of a token is its id.
absl::Status ModelReader::readScoredVocabulary(const json& model) {
  const json* vocabulary = JsonFile::find(model, "vocab");
  if (!vocabulary || !vocabulary->is_array() || vocabulary->empty())
    return error("model.vocab", "a list of tokens with scores", vocabulary ? *vocabulary : json());
  for (const json& entry : *vocabulary) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return error(absl::StrFormat("model.vocab[%d]", spec.tokens.size()), "a token and its score",
                   entry);
    spec.tokens.push_back(entry[0].get<std::string>());
    spec.scores.push_back(static_cast<float>(entry[1].get<double>()));
  }
  spec.kinds.assign(spec.tokens.size(), TokenKind::Normal);
  return absl::OkStatus();
}

absl::Status ModelReader::readUnknownToken(const json& model) {
  TENON_ASSIGN_OR_RETURN(std::string unknown, text(model, "model", "unk_token"));
  if (unknown.empty())
    return absl::OkStatus();
  auto found = std::ranges::find(spec.tokens, unknown);
  if (found == spec.tokens.end())
    return error("model.unk_token", "a token of the vocabulary", unknown);
  spec.unknownId = static_cast<int32_t>(found - spec.tokens.begin());
  return absl::OkStatus();
}

absl::Status ModelReader::readBpe(const json& model) {
  for (std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    TENON_ASSIGN_OR_RETURN(std::string mark, text(model, "model", key));
    if (!mark.empty())
      return error(absl::StrCat("model.", std::string(key)), "to be absent or empty", mark);
  }
  TENON_ASSIGN_OR_RETURN(double dropout, file.number(model, "model.", "dropout", 0));
  if (dropout != 0)
    return error("model.dropout", "to be absent or 0", dropout);
  TENON_ASSIGN_OR_RETURN(spec.fuseUnknown, flag(model, "model", "fuse_unk", false));
  TENON_ASSIGN_OR_RETURN(hasByteFallback, flag(model, "model", "byte_fallback", false));
  TENON_ASSIGN_OR_RETURN(spec.ignoreMerges, flag(model, "model", "ignore_merges", false));
  spec.model = TokenizerModel::Bpe;
  TENON_RETURN_IF_ERROR(readVocabulary(model));
  TENON_RETURN_IF_ERROR(readMerges(model));
  return readUnknownToken(model);
}

absl::Status ModelReader::readUnigram(const json& model) {
  spec.model = TokenizerModel::Unigram;
  TENON_RETURN_IF_ERROR(readScoredVocabulary(model));
  TENON_ASSIGN_OR_RETURN(hasByteFallback, flag(model, "model", "byte_fallback", false));
  const json* unknown = JsonFile::find(model, "unk_id");
  if (!unknown)
    return absl::OkStatus();
  if (!unknown->is_number_unsigned() || unknown->get<uint64_t>() >= spec.tokens.size())
    return error("model.unk_id", absl::StrFormat("a token id below %d", spec.tokens.size()),
                 *unknown);
  spec.unknownId = static_cast<int32_t>(unknown->get<uint64_t>());
  spec.kinds[static_cast<size_t>(spec.unknownId)] = TokenKind::Unknown;
  return absl::OkStatus();
}

absl::Status ModelReader::readWordPiece(const json& model) {
  constexpr double longestWord = 100; // as the tokeniser has it
  spec.model = TokenizerModel::WordPiece;
  TENON_ASSIGN_OR_RETURN(std::string prefix,
                         text(model, "model", "continuing_subword_prefix", "##"));
  if (prefix != "##")
    return error("model.continuing_subword_prefix", "'##'", prefix);
  TENON_ASSIGN_OR_RETURN(double longest,
                         file.number(model, "model.", "max_input_chars_per_word", longestWord));
  if (longest != longestWord)
    return error("model.max_input_chars_per_word", "100", longest);
  TENON_RETURN_IF_ERROR(readVocabulary(model));
  return readUnknownToken(model);
}

absl::Status ModelReader::readModel() {
  const json* model = file.find("model");
  if (!model || !model->is_object())
    return error("model", "an object", model ? *model : json());
  // Files of early versions name no type.
  TENON_ASSIGN_OR_RETURN(std::string type, text(*model, "model", "type", "BPE"));
  if (type == "BPE")
    return readBpe(*model);
  if (type == "Unigram")
    return readUnigram(*model);
  if (type == "WordPiece")
    return readWordPiece(*model);
  return error("model.type", "'BPE', 'Unigram' or 'WordPiece'", type);
}

} // namespace

void markByteTokens(TokenizerJson& json) {
  TokenizerSpec& spec = json.spec;
  std::set<std::string> names;
  for (int byte = 0; json.hasByteFallback && byte < 256; ++byte)
    names.insert(absl::StrFormat("<0x%02X>", byte));
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.kinds[id] == TokenKind::Normal && names.contains(spec.tokens[id]))
      spec.kinds[id] = TokenKind::Byte;
}

absl::Status readModelSection(TokenizerJson& json) { return ModelReader(json).readModel(); }

} // namespace tenon::frontends::internal
