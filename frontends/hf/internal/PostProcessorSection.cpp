#include "frontends/hf/internal/TokenizerSections.h"

namespace tenon::frontends::internal {

namespace {

class PostProcessorReader : SectionReader {
public:
  using SectionReader::SectionReader;
  absl::Status readPostProcessor(const json* step, const std::string& place, int depth);

private:
  absl::Status readTemplate(const json& step, const std::string& place);
  /// A token id below the number of tokens.
  absl::StatusOr<int32_t> readId(const json* value, const std::string& place);
};

absl::StatusOr<int32_t> PostProcessorReader::readId(const json* value, const std::string& place) {
  if (!value || !value->is_number_unsigned() || value->get<uint64_t>() >= spec.tokens.size())
    return error(place, absl::StrFormat("a token id below %d", spec.tokens.size()),
                 value ? *value : json());
  return static_cast<int32_t>(value->get<uint64_t>());
}

/// `single` is at most a special token, the text, a special token.
absl::Status PostProcessorReader::readTemplate(const json& step, const std::string& place) {
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
      return error(partPlace, "one special token before the text and one after it", (*parts)[i]);
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

absl::Status PostProcessorReader::readPostProcessor(const json* step, const std::string& place,
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

} // namespace

absl::Status readPostProcessorSection(TokenizerJson& json) {
  return PostProcessorReader(json).readPostProcessor(json.file.find("post_processor"),
                                                     "post_processor", 0);
}

} // namespace tenon::frontends::internal
