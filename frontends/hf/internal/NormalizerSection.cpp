#include "absl/strings/escaping.h"

#include "frontends/hf/internal/TokenizerSections.h"
#include "runtime/text/BertText.h"

namespace tenon::frontends::internal {

using runtime::RewriteKind;

namespace {

class NormalizerReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status readNormalizer(const json* step, const std::string& place, int depth);

private:
  absl::Status readPrecompiled(const json& step, const std::string& place);
  absl::Status readBert(const json& step, const std::string& place);
  /// Whether the pre-tokeniser cuts at white space first.
  bool cutsAtSpaces() const;
};

/// A map of characters in base64; an empty one changes nothing.
absl::Status NormalizerReader::readPrecompiled(const json& step, const std::string& place) {
  TENON_ASSIGN_OR_RETURN(std::string encoded, text(step, place, "precompiled_charsmap"));
  std::string bytes;
  if (!absl::Base64Unescape(encoded, &bytes))
    return error(place + ".precompiled_charsmap", "base64", encoded);
  if (!bytes.empty())
    addNormalizer(RewriteKind::CharsmapOfClusters, "", std::move(bytes));
  return absl::OkStatus();
}

bool NormalizerReader::cutsAtSpaces() const {
  const json* preTokenizer = file.find("pre_tokenizer");
  const json* type = preTokenizer ? JsonFile::find(*preTokenizer, "type") : nullptr;
  return type &&
         (*type == "BertPreTokenizer" || *type == "Whitespace" || *type == "WhitespaceSplit");
}

absl::Status NormalizerReader::readBert(const json& step, const std::string& place) {
  runtime::BertNormalizer normalizer;
  TENON_ASSIGN_OR_RETURN(normalizer.cleans, flag(step, place, "clean_text", true));
  TENON_ASSIGN_OR_RETURN(normalizer.cutsIdeographs,
                         flag(step, place, "handle_chinese_chars", true));
  TENON_ASSIGN_OR_RETURN(normalizer.lowers, flag(step, place, "lowercase", true));
  TENON_ASSIGN_OR_RETURN(normalizer.stripsAccents,
                         flag(step, place, "strip_accents", normalizer.lowers));
  if (normalizer.cutsIdeographs && !cutsAtSpaces())
    return error(place + ".handle_chinese_chars",
                 "to be false without the pre-tokeniser BertPreTokenizer, Whitespace or "
                 "WhitespaceSplit",
                 true);
  runtime::addBertNormalizer(normalizer, spec);
  return absl::OkStatus();
}

absl::Status NormalizerReader::readNormalizer(const json* step, const std::string& place,
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
  for (const auto& [name, kind] : plainKinds)
    if (type == name) {
      addNormalizer(kind);
      return absl::OkStatus();
    }
  if (type == "Prepend") {
    TENON_ASSIGN_OR_RETURN(std::string content, text(*step, place, "prepend"));
    addNormalizer(RewriteKind::Prepend, "", content);
  } else if (type == "Replace") {
    TENON_ASSIGN_OR_RETURN(std::string pattern, readPattern(*step, place));
    TENON_ASSIGN_OR_RETURN(std::string content, text(*step, place, "content"));
    addNormalizer(RewriteKind::Replace, pattern, content);
  } else if (type == "Strip") {
    TENON_ASSIGN_OR_RETURN(bool left, flag(*step, place, "strip_left", false));
    TENON_ASSIGN_OR_RETURN(bool right, flag(*step, place, "strip_right", false));
    if (left)
      addNormalizer(RewriteKind::Replace, R"(\A\s+)");
    if (right)
      addNormalizer(RewriteKind::Replace, R"(\s+\z)");
  } else if (type == "Precompiled") {
    return readPrecompiled(*step, place);
  } else if (type == "BertNormalizer") {
    return readBert(*step, place);
  } else {
    return error(place + ".type",
                 "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Prepend, Replace, Strip, "
                 "Precompiled, BertNormalizer or Sequence",
                 type);
  }
  return absl::OkStatus();
}

} // namespace

absl::Status readNormalizerSection(TokenizerJson& json) {
  return NormalizerReader(json).readNormalizer(json.file.find("normalizer"), "normalizer", 0);
}

} // namespace tenon::frontends::internal
