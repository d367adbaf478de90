#include <algorithm>

#include "frontends/hf/internal/TokenizerSections.h"
#include "runtime/text/BertText.h"

namespace tenon::frontends::internal {

using runtime::RewriteKind;
using runtime::SplitBehavior;
using runtime::SplitStep;
using runtime::TokenizerModel;

namespace {

/// GPT-2's own pattern, by which `ByteLevel` cuts unless it is told not to.
constexpr std::string_view byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view punctuationPattern = R"([\p{P}\$\+<=>\^~\|`])";
/// `\w` of Rust's regular expressions.
constexpr std::string_view wordClass = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";

SplitStep whiteSpaceSplit() { return {R"(\s)", SplitBehavior::Removed, false}; }

class PreTokenizerReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status readPreTokenizer(const json* step, const std::string& place, int depth);

private:
  absl::Status readByteLevel(const json& step, const std::string& place);
  absl::Status readMetaspace(const json& step, const std::string& place);
  absl::StatusOr<SplitBehavior> readBehavior(const json& step, const std::string& place,
                                             std::string_view otherwise);
};

absl::Status PreTokenizerReader::readByteLevel(const json& step, const std::string& place) {
  if (spec.model != TokenizerModel::Bpe)
    return error(place + ".type", "ByteLevel with a model BPE alone", json("ByteLevel"));
  spec.model = TokenizerModel::ByteLevelBpe;
  TENON_ASSIGN_OR_RETURN(bool addsSpace, flag(step, place, "add_prefix_space", true));
  TENON_ASSIGN_OR_RETURN(bool splits, flag(step, place, "use_regex", true));
  if (addsSpace && !spec.splits.empty())
    return error(place + ".add_prefix_space", "false after other steps", true);
  if (addsSpace)
    addPieceNormalizer(RewriteKind::Prefix, "", " ");
  if (splits)
    addSplit(std::string(byteLevelPattern), SplitBehavior::Isolated);
  return absl::OkStatus();
}

absl::Status PreTokenizerReader::readMetaspace(const json& step, const std::string& place) {
  const bool areWordsCut = spec.splits == std::vector<SplitStep>{whiteSpaceSplit()};
  if ((!spec.splits.empty() && !areWordsCut) || !spec.pieceNormalizers.empty())
    return error(place + ".type", "to be the first pre-tokeniser, or after WhitespaceSplit",
                 json("Metaspace"));
  TENON_ASSIGN_OR_RETURN(std::string symbol, text(step, place, "replacement", spaceSymbol));
  if (symbol != spaceSymbol)
    return error(place + ".replacement", "U+2581", symbol);
  TENON_ASSIGN_OR_RETURN(bool addsSpace, flag(step, place, "add_prefix_space", true));
  TENON_ASSIGN_OR_RETURN(std::string scheme,
                         text(step, place, "prepend_scheme", addsSpace ? "always" : "never"));
  TENON_ASSIGN_OR_RETURN(bool splits, flag(step, place, "split", true));
  if (areWordsCut) {
    if (scheme != "always")
      return error(place + ".prepend_scheme", "'always' after WhitespaceSplit", scheme);
    // The symbol before each word marks where to cut.
    spec.splits.clear();
    addPieceNormalizer(RewriteKind::Replace, R"(\A\s+|\s+\z|\s+(?=\x{2581}))", "");
    addPieceNormalizer(RewriteKind::Replace, R"(\s+)", symbol);
  }
  addPieceNormalizer(RewriteKind::Replace, "\\ ", symbol);
  if (scheme == "always")
    addPieceNormalizer(RewriteKind::Prefix, "", symbol);
  else if (scheme == "first")
    addPieceNormalizer(RewriteKind::PrefixFirst, "", symbol);
  else if (scheme != "never")
    return error(place + ".prepend_scheme", "'always', 'first' or 'never'", scheme);
  if (splits)
    addSplit(symbol, SplitBehavior::MergedWithNext);
  return absl::OkStatus();
}

absl::StatusOr<SplitBehavior> PreTokenizerReader::readBehavior(const json& step,
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

absl::Status PreTokenizerReader::readPreTokenizer(const json* step, const std::string& place,
                                                  int depth) {
  if (!step)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::string type, typeOf(*step, place));
  if (type == "Sequence")
    return readSequence(*step, place, "pretokenizers", depth,
                        [&](const json& each, const std::string& where, int deeper) {
                          return readPreTokenizer(&each, where, deeper);
                        });
  if (spec.model == TokenizerModel::ByteLevelBpe)
    return error(place + ".type", "nothing after ByteLevel", type);
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
    spec.splits.push_back(whiteSpaceSplit());
  } else if (type == "BertPreTokenizer") {
    runtime::addBertSplits(spec);
  } else {
    return error(place + ".type",
                 "ByteLevel, Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, "
                 "BertPreTokenizer or Sequence",
                 type);
  }
  return absl::OkStatus();
}

} // namespace

absl::Status readPreTokenizerSection(TokenizerJson& json) {
  return PreTokenizerReader(json).readPreTokenizer(json.file.find("pre_tokenizer"), "pre_tokenizer",
                                                   0);
}

} // namespace tenon::frontends::internal
