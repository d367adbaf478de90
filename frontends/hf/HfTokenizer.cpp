#include "frontends/hf/HfTokenizer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_format.h"

#include "frontends/hf/internal/TokenizerSections.h"
#include "runtime/text/ChatTemplate.h"
#include "support/MappedFile.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;
using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;
namespace fs = std::filesystem;

namespace {

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

/// The template of chat_template.jinja, or that of tokenizer_config.json, of several the one by the name
/// `default`; empty where there is none.
absl::StatusOr<std::string> readChatTemplate(const std::string& folder, const JsonFile* settings) {
  fs::path path = fs::path(folder) / "chat_template.jinja";
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path.string()));
    std::span<const std::byte> bytes = file->bytes();
    if (bytes.size() > runtime::ChatTemplate::maxBytes)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: expects a chat template of at most %d bytes, but got %d",
                          path.string(), runtime::ChatTemplate::maxBytes, bytes.size()));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  const json* value = settings ? settings->find("chat_template") : nullptr;
  if (!value)
    return std::string();
  if (value->is_string())
    return value->get<std::string>();
  if (value->is_array())
    for (const json& entry : *value) {
      const json* name = JsonFile::find(entry, "name");
      const json* source = JsonFile::find(entry, "template");
      if (name && *name == "default" && source && source->is_string())
        return source->get<std::string>();
    }
  return settings->error("chat_template", "a template, or a list with one by the name 'default'",
                         *value);
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
  internal::TokenizerJson json{file};
  TENON_RETURN_IF_ERROR(internal::readModelSection(json));
  TENON_RETURN_IF_ERROR(internal::readAddedTokensSection(json));
  TENON_RETURN_IF_ERROR(internal::readNormalizerSection(json));
  TENON_RETURN_IF_ERROR(internal::readPreTokenizerSection(json));
  TENON_RETURN_IF_ERROR(internal::readPostProcessorSection(json));
  TENON_RETURN_IF_ERROR(internal::checkDecoderSection(json));
  if (json.spec.model != TokenizerModel::ByteLevelBpe)
    internal::markByteTokens(json);
  return std::move(json.spec);
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
  TENON_ASSIGN_OR_RETURN(spec.chatTemplate,
                         readChatTemplate(folder, settings ? &*settings : nullptr));
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
