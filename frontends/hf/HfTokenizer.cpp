#include "frontends/hf/HfTokenizer.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;
using runtime::AddedToken;
using runtime::RewriteKind;
using runtime::RewriteStep;
using runtime::SplitBehavior;
using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;
namespace fs = std::filesystem;

namespace {

/// Lists of steps within lists of steps; files in use have one level.
constexpr int deepestSequence = 8;
/// U+2581, which stands for a space.
constexpr std::string_view spaceSymbol = "\u2581";

/// GPT-2's own pattern, by which `ByteLevel` cuts unless it is told not to.
constexpr std::string_view byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view punctuationPattern = R"([\p{P}\$\+<=>\^~\|`])";
/// `\w` of Rust's regular expressions.
constexpr std::string_view wordClass = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";

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

/// Reads a tokenizer.json member by member.
class TokenizerReader {
public:
  explicit TokenizerReader(const JsonFile& file) : file(file) {}

  absl::StatusOr<TokenizerSpec> read() {
    TENON_RETURN_IF_ERROR(readModel());
    TENON_RETURN_IF_ERROR(readAddedTokens());
    TENON_RETURN_IF_ERROR(readNormalizer(file.find("normalizer"), "normalizer", 0));
    TENON_RETURN_IF_ERROR(readPreTokenizer(file.find("pre_tokenizer"), "pre_tokenizer", 0));
    TENON_RETURN_IF_ERROR(readPostProcessor(file.find("post_processor"), "post_processor", 0));
    TENON_RETURN_IF_ERROR(checkDecoder());
    spec.model = isByteLevel ? TokenizerModel::ByteLevelBpe : TokenizerModel::Bpe;
    if (spec.model == TokenizerModel::Bpe)
      markBytes();
    return std::move(spec);
  }

private:
  absl::Status error(const std::string& place, std::string_view expected, const json& found) {
    return file.error(place, expected, found);
  }
  absl::StatusOr<std::string> typeOf(const json& step, const std::string& place) {
    if (!step.is_object())
      return error(place, "an object", step);
    return file.text(step, place + ".", "type", "");
  }
  absl::StatusOr<bool> flag(const json& object, const std::string& place, std::string_view key,
                            bool otherwise) {
    return file.flag(object, place + ".", key, otherwise);
  }
  absl::StatusOr<std::string> text(const json& object, const std::string& place,
                                   std::string_view key, std::string_view otherwise = "") {
    return file.text(object, place + ".", key, otherwise);
  }

  absl::Status readModel();
  absl::Status readVocabulary(const json& model);
  absl::Status readMerges(const json& model);
  absl::Status readAddedTokens();
  absl::Status readAddedToken(const json& token, const std::string& place);
  /// Calls `readStep(step, place, depth)` for the members of a `Sequence`.
  template <class ReadStep>
  absl::Status readSequence(const json& step, const std::string& place, std::string_view key,
                            int depth, ReadStep readStep);
  absl::Status readNormalizer(const json* step, const std::string& place, int depth);
  absl::Status readPreTokenizer(const json* step, const std::string& place, int depth);
  absl::Status readByteLevel(const json& step, const std::string& place);
  absl::Status readMetaspace(const json& step, const std::string& place);
  absl::Status readPostProcessor(const json* step, const std::string& place, int depth);
  absl::Status readTemplate(const json& step, const std::string& place);
  absl::Status checkDecoder();
  void markBytes();

  /// The regular expression of a member `pattern`: {"Regex": …} or {"String": …}.
  absl::StatusOr<std::string> readPattern(const json& step, const std::string& place);
  absl::StatusOr<SplitBehavior> readBehavior(const json& step, const std::string& place,
                                             std::string_view otherwise);
  /// A token id below the number of tokens.
  absl::StatusOr<int32_t> readId(const json* value, const std::string& place);
  void addRewrite(std::vector<RewriteStep>& steps, RewriteKind kind, std::string pattern = "",
                  std::string content = "") {
    steps.push_back({kind, std::move(pattern), std::move(content)});
  }
  void addSplit(std::string pattern, SplitBehavior behavior, bool invert = false) {
    spec.splits.push_back({std::move(pattern), behavior, invert});
  }

  const JsonFile& file;
  TokenizerSpec spec;
  bool isByteLevel = false;
  bool hasByteFallback = false;
};

absl::Status TokenizerReader::readModel() {
  const json* model = file.find("model");
  if (!model || !model->is_object())
    return error("model", "an object", model ? *model : json());
  // Files of early versions name no type.
  TENON_ASSIGN_OR_RETURN(std::string type, text(*model, "model", "type", "BPE"));
  if (type != "BPE")
    return error("model.type", "'BPE'", type);
  for (std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    TENON_ASSIGN_OR_RETURN(std::string mark, text(*model, "model", key));
    if (!mark.empty())
      return error(absl::StrCat("model.", std::string(key)), "to be absent or empty", mark);
  }
  TENON_ASSIGN_OR_RETURN(double dropout, file.number(*model, "model.", "dropout", 0));
  if (dropout != 0)
    return error("model.dropout", "to be absent or 0", dropout);
  TENON_ASSIGN_OR_RETURN(spec.fuseUnknown, flag(*model, "model", "fuse_unk", false));
  TENON_ASSIGN_OR_RETURN(hasByteFallback, flag(*model, "model", "byte_fallback", false));
  TENON_ASSIGN_OR_RETURN(spec.ignoreMerges, flag(*model, "model", "ignore_merges", false));
  TENON_RETURN_IF_ERROR(readVocabulary(*model));
  TENON_RETURN_IF_ERROR(readMerges(*model));
  TENON_ASSIGN_OR_RETURN(std::string unknown, text(*model, "model", "unk_token"));
  if (unknown.empty())
    return absl::OkStatus();
  auto found = std::ranges::find(spec.tokens, unknown);
  if (found == spec.tokens.end())
    return error("model.unk_token", "a token of the vocabulary", unknown);
  spec.unknownId = static_cast<int32_t>(found - spec.tokens.begin());
  return absl::OkStatus();
}

absl::Status TokenizerReader::readVocabulary(const json& model) {
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

absl::Status TokenizerReader::readMerges(const json& model) {
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

absl::Status TokenizerReader::readAddedTokens() {
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

absl::Status TokenizerReader::readAddedToken(const json& token, const std::string& place) {
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
  }
  if (spec.kinds[index] == TokenKind::Normal && spec.tokens[index] != content)
    return error(
        place + ".content",
        absl::StrFormat("the text of token %d, %s", added.id, quoteName(spec.tokens[index])),
        content);
  spec.tokens[index] = content;
  spec.kinds[index] = isSpecial ? TokenKind::Control : TokenKind::UserDefined;
  spec.added.push_back(added);
  return absl::OkStatus();
}

template <class ReadStep>
absl::Status TokenizerReader::readSequence(const json& step, const std::string& place,
                                           std::string_view key, int depth, ReadStep readStep) {
  std::string listPlace = absl::StrCat(place, ".", std::string(key));
  const json* list = JsonFile::find(step, key);
  if (!list || !list->is_array() || depth >= deepestSequence)
    return error(listPlace,
                 absl::StrFormat("a list, at most %d within one another", deepestSequence),
                 list ? *list : json());
  for (size_t i = 0; i < list->size(); ++i)
    TENON_RETURN_IF_ERROR(readStep((*list)[i], absl::StrFormat("%s[%d]", listPlace, i), depth + 1));
  return absl::OkStatus();
}

absl::StatusOr<std::string> TokenizerReader::readPattern(const json& step,
                                                         const std::string& place) {
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

absl::StatusOr<SplitBehavior> TokenizerReader::readBehavior(const json& step,
                                                            const std::string& place,
                                                            std::string_view otherwise) {
  TENON_ASSIGN_OR_RETURN(std::string name, text(step, place, "behavior", otherwise));
  constexpr std::string_view names[] = {"Isolated", "Removed", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
  auto found = std::ranges::find(names, name);
  if (found == std::end(names))
    return error(place + ".behavior", "a behaviour of splits", name);
  return static_cast<SplitBehavior>(found - std::begin(names));
}

absl::Status TokenizerReader::readNormalizer(const json* step, const std::string& place,
                                             int depth) {
  if (!step)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*step, place));
  if (type == "Sequence")
    return readSequence(*step, place, "normalizers", depth,
                        [&](const json& each, const std::string& where, int deeper) {
                          return readNormalizer(&each, where, deeper);
                        });
  constexpr std::pair<std::string_view, RewriteKind> plainKinds[] = {
      {"NFC", RewriteKind::Nfc},
      {"NFD", RewriteKind::Nfd},
      {"NFKC", RewriteKind::Nfkc},
      {"NFKD", RewriteKind::Nfkd},
      {"Lowercase", RewriteKind::Lowercase},
      {"StripAccents", RewriteKind::StripMarks},
  };
  std::vector<RewriteStep>& steps = spec.normalizers;
  for (const auto& [name, kind] : plainKinds)
    if (type == name) {
      addRewrite(steps, kind);
      return absl::OkStatus();
    }
  if (type == "Prepend") {
    TENON_ASSIGN_OR_RETURN(std::string content, text(*step, place, "prepend"));
    addRewrite(steps, RewriteKind::Prepend, "", content);
  } else if (type == "Replace") {
    TENON_ASSIGN_OR_RETURN(std::string pattern, readPattern(*step, place));
    TENON_ASSIGN_OR_RETURN(std::string content, text(*step, place, "content"));
    addRewrite(steps, RewriteKind::Replace, pattern, content);
  } else if (type == "Strip") {
    TENON_ASSIGN_OR_RETURN(bool left, flag(*step, place, "strip_left", false));
    TENON_ASSIGN_OR_RETURN(bool right, flag(*step, place, "strip_right", false));
    if (left)
      addRewrite(steps, RewriteKind::Replace, R"(\A\s+)");
    if (right)
      addRewrite(steps, RewriteKind::Replace, R"(\s+\z)");
  } else {
    return error(place + ".type",
                 "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Prepend, Replace, Strip or "
                 "Sequence",
                 type);
  }
  return absl::OkStatus();
}

absl::Status TokenizerReader::readPreTokenizer(const json* step, const std::string& place,
                                               int depth) {
  if (!step)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*step, place));
  if (type == "Sequence")
    return readSequence(*step, place, "pretokenizers", depth,
                        [&](const json& each, const std::string& where, int deeper) {
                          return readPreTokenizer(&each, where, deeper);
                        });
  if (isByteLevel)
    return error(place + ".type", "nothing behind ByteLevel", type);
  if (type == "ByteLevel")
    return readByteLevel(*step, place);
  if (type == "Metaspace")
    return readMetaspace(*step, place);
  if (type == "Split") {
    TENON_ASSIGN_OR_RETURN(std::string pattern, readPattern(*step, place));
    TENON_ASSIGN_OR_RETURN(SplitBehavior behavior, readBehavior(*step, place, ""));
    TENON_ASSIGN_OR_RETURN(bool invert, flag(*step, place, "invert", false));
    addSplit(pattern, behavior, invert);
  } else if (type == "Digits") {
    TENON_ASSIGN_OR_RETURN(bool each, flag(*step, place, "individual_digits", false));
    addSplit(R"(\p{N})", each ? SplitBehavior::Isolated : SplitBehavior::Contiguous);
  } else if (type == "Punctuation") {
    TENON_ASSIGN_OR_RETURN(SplitBehavior behavior, readBehavior(*step, place, "Isolated"));
    addSplit(std::string(punctuationPattern), behavior);
  } else if (type == "Whitespace") {
    addSplit(absl::StrFormat("[%s]+|[^%s\\s]+", wordClass, wordClass), SplitBehavior::Removed,
             /*invert=*/true);
  } else if (type == "WhitespaceSplit") {
    addSplit(R"(\s)", SplitBehavior::Removed);
  } else {
    return error(place + ".type",
                 "ByteLevel, Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit or "
                 "Sequence",
                 type);
  }
  return absl::OkStatus();
}

absl::Status TokenizerReader::readByteLevel(const json& step, const std::string& place) {
  isByteLevel = true;
  TENON_ASSIGN_OR_RETURN(bool addsSpace, flag(step, place, "add_prefix_space", true));
  TENON_ASSIGN_OR_RETURN(bool splits, flag(step, place, "use_regex", true));
  if (addsSpace && !spec.splits.empty())
    return error(place + ".add_prefix_space", "false behind other steps", true);
  if (addsSpace)
    addRewrite(spec.pieceNormalizers, RewriteKind::Prefix, "", " ");
  if (splits)
    addSplit(std::string(byteLevelPattern), SplitBehavior::Isolated);
  return absl::OkStatus();
}

absl::Status TokenizerReader::readMetaspace(const json& step, const std::string& place) {
  if (!spec.splits.empty() || !spec.pieceNormalizers.empty())
    return error(place + ".type", "to be the first pre-tokeniser", json("Metaspace"));
  TENON_ASSIGN_OR_RETURN(std::string symbol, text(step, place, "replacement", spaceSymbol));
  if (symbol != spaceSymbol)
    return error(place + ".replacement", "U+2581", symbol);
  TENON_ASSIGN_OR_RETURN(bool addsSpace, flag(step, place, "add_prefix_space", true));
  TENON_ASSIGN_OR_RETURN(std::string scheme,
                         text(step, place, "prepend_scheme", addsSpace ? "always" : "never"));
  TENON_ASSIGN_OR_RETURN(bool splits, flag(step, place, "split", true));
  addRewrite(spec.pieceNormalizers, RewriteKind::Replace, "\\ ", symbol);
  if (scheme == "always")
    addRewrite(spec.pieceNormalizers, RewriteKind::Prefix, "", symbol);
  else if (scheme == "first")
    addRewrite(spec.pieceNormalizers, RewriteKind::PrefixFirst, "", symbol);
  else if (scheme != "never")
    return error(place + ".prepend_scheme", "'always', 'first' or 'never'", scheme);
  if (splits)
    addSplit(symbol, SplitBehavior::MergedWithNext);
  return absl::OkStatus();
}

absl::StatusOr<int32_t> TokenizerReader::readId(const json* value, const std::string& place) {
  if (!value || !value->is_number_unsigned() || value->get<uint64_t>() >= spec.tokens.size())
    return error(place, absl::StrFormat("a token id below %d", spec.tokens.size()),
                 value ? *value : json());
  return static_cast<int32_t>(value->get<uint64_t>());
}

absl::Status TokenizerReader::readPostProcessor(const json* step, const std::string& place,
                                                int depth) {
  if (!step)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*step, place));
  if (type == "ByteLevel") // changes offsets alone
    return absl::OkStatus();
  if (type == "Sequence")
    return readSequence(*step, place, "processors", depth,
                        [&](const json& each, const std::string& where, int deeper) {
                          return readPostProcessor(&each, where, deeper);
                        });
  if (type == "TemplateProcessing")
    return readTemplate(*step, place);
  if (type != "BertProcessing" && type != "RobertaProcessing")
    return error(place + ".type",
                 "ByteLevel, TemplateProcessing, BertProcessing, RobertaProcessing or Sequence",
                 type);
  for (std::string_view key : {"cls", "sep"}) {
    const json* pair = JsonFile::find(*step, key);
    const json* id = pair && pair->is_array() && pair->size() == 2 ? &(*pair)[1] : nullptr;
    TENON_ASSIGN_OR_RETURN((key == "cls" ? spec.bosId : spec.eosId),
                           readId(id, absl::StrCat(place, ".", std::string(key), "[1]")));
  }
  spec.addBos = spec.addEos = true;
  return absl::OkStatus();
}

/// `single` is at most a special token, the text, a special token.
absl::Status TokenizerReader::readTemplate(const json& step, const std::string& place) {
  const json* parts = JsonFile::find(step, "single");
  std::string partsPlace = place + ".single";
  if (!parts || !parts->is_array())
    return error(partsPlace, "a list", parts ? *parts : json());
  const json none = json::object();
  const json* known = JsonFile::find(step, "special_tokens");
  bool isBehindText = false;
  for (size_t i = 0; i < parts->size(); ++i) {
    std::string partPlace = absl::StrFormat("%s[%d]", partsPlace, i);
    if (JsonFile::find((*parts)[i], "Sequence")) {
      if (isBehindText)
        return error(partPlace, "one Sequence", (*parts)[i]);
      isBehindText = true;
      continue;
    }
    const json* special = JsonFile::find((*parts)[i], "SpecialToken");
    if (!special || (isBehindText ? spec.addEos : spec.addBos))
      return error(partPlace, "one special token before the text and one behind it", (*parts)[i]);
    TENON_ASSIGN_OR_RETURN(std::string name, text(*special, partPlace, "id"));
    const json* token = JsonFile::find(known ? *known : none, name);
    const json* ids = token ? JsonFile::find(*token, "ids") : nullptr;
    const json* id = ids && ids->is_array() && ids->size() == 1 ? &(*ids)[0] : nullptr;
    TENON_ASSIGN_OR_RETURN((isBehindText ? spec.eosId : spec.bosId),
                           readId(id, absl::StrFormat("%s.special_tokens.%s.ids", place, name)));
    (isBehindText ? spec.addEos : spec.addBos) = true;
  }
  return absl::OkStatus();
}

/// Byte-level tokens are decoded by their bytes; those over characters have spaces for U+2581.
absl::Status TokenizerReader::checkDecoder() {
  const json* decoder = file.find("decoder");
  if (isByteLevel || !decoder)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*decoder, "decoder"));
  if (type == "Metaspace")
    return absl::OkStatus();
  if (type != "Sequence")
    return error("decoder.type", "Metaspace or Sequence", type);
  return readSequence(
      *decoder, "decoder", "decoders", 0,
      [&](const json& step, const std::string& place, int) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(std::string each, typeOf(step, place));
        for (std::string_view known : {"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"})
          if (each == known)
            return absl::OkStatus();
        return error(place + ".type", "Replace, ByteFallback, Fuse, Strip or Metaspace", each);
      });
}

/// `<0x00>` to `<0xFF>` stand for bytes.
void TokenizerReader::markBytes() {
  std::set<std::string> names;
  for (int byte = 0; hasByteFallback && byte < 256; ++byte)
    names.insert(absl::StrFormat("<0x%02X>", byte));
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.kinds[id] == TokenKind::Normal && names.contains(spec.tokens[id]))
      spec.kinds[id] = TokenKind::Byte;
}

/// The text of a special token, which is a string or an added token's object.
std::string specialText(const JsonFile& file, std::string_view key) {
  const json* token = file.find(key);
  if (token && token->is_object())
    token = JsonFile::find(*token, "content");
  return token && token->is_string() ? token->get<std::string>() : "";
}

/// The ids of one or several special tokens by a key of `file`.
absl::StatusOr<std::vector<int32_t>> readSpecialIds(const JsonFile& file, std::string_view key,
                                                    size_t tokens) {
  std::vector<int32_t> ids;
  const json* value = file.find(key);
  if (!value)
    return ids;
  const json one = json::array({*value});
  for (const json& id : value->is_array() ? *value : one) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= tokens)
      return file.error(key, absl::StrFormat("token ids below %d", tokens), id);
    ids.push_back(static_cast<int32_t>(id.get<uint64_t>()));
  }
  return ids;
}

/// A file that a folder may lack.
absl::StatusOr<std::optional<JsonFile>> openOptional(const std::string& folder,
                                                     std::string_view name) {
  fs::path path = fs::path(folder) / name;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return std::nullopt;
  TENON_ASSIGN_OR_RETURN(JsonFile file, JsonFile::open(path.string()));
  return file;
}

/// As many tokens as the model has: rows of its embedding that no token has are unused.
void padTokens(const JsonFile& config, TokenizerSpec& spec) {
  constexpr uint64_t most = 1 << 22; // far above any vocabulary
  const json* rows = config.find("vocab_size");
  if (!rows || !rows->is_number_unsigned() || rows->get<uint64_t>() > most ||
      rows->get<uint64_t>() <= spec.tokens.size())
    return;
  spec.tokens.resize(rows->get<uint64_t>());
  spec.kinds.resize(rows->get<uint64_t>(), TokenKind::Unused);
}

} // namespace

absl::StatusOr<TokenizerSpec> readTokenizerJson(const JsonFile& file) {
  return TokenizerReader(file).read();
}

absl::StatusOr<TokenizerSpec> readHfTokenizer(const std::string& folder, const JsonFile& config) {
  TENON_ASSIGN_OR_RETURN(JsonFile file,
                         JsonFile::open((fs::path(folder) / "tokenizer.json").string()));
  TENON_ASSIGN_OR_RETURN(TokenizerSpec spec, readTokenizerJson(file));
  padTokens(config, spec);
  TENON_ASSIGN_OR_RETURN(std::optional<JsonFile> generation,
                         openOptional(folder, "generation_config.json"));
  TENON_ASSIGN_OR_RETURN(std::optional<JsonFile> settings,
                         openOptional(folder, "tokenizer_config.json"));
  auto addEnd = [&](int32_t id) {
    if (spec.eosId < 0)
      spec.eosId = id;
    else if (!spec.endsGeneration(id))
      spec.extraEndIds.push_back(id);
  };
  const JsonFile* generationFile = generation ? &*generation : nullptr;
  for (const JsonFile* source : {generationFile, &config}) {
    if (!source)
      continue;
    TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ends,
                           readSpecialIds(*source, "eos_token_id", spec.tokens.size()));
    std::ranges::for_each(ends, addEnd);
    TENON_ASSIGN_OR_RETURN(std::vector<int32_t> begins,
                           readSpecialIds(*source, "bos_token_id", spec.tokens.size()));
    if (spec.bosId < 0 && !begins.empty())
      spec.bosId = begins.front();
  }
  if (!settings)
    return spec;
  auto idOf = [&](std::string_view key) {
    std::string token = specialText(*settings, key);
    auto found = std::ranges::find(spec.tokens, token);
    return token.empty() || found == spec.tokens.end()
               ? -1
               : static_cast<int32_t>(found - spec.tokens.begin());
  };
  if (int32_t id = idOf("eos_token"); id >= 0)
    addEnd(id);
  if (int32_t id = idOf("bos_token"); id >= 0 && spec.bosId < 0)
    spec.bosId = id;
  return spec;
}

} // namespace tenon::frontends
