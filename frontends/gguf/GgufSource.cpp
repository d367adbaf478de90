#include "frontends/gguf/GgufSource.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/gguf/GgufTokenizer.h"
#include "frontends/models/Frontend.h"
#include "support/Status.h"

namespace tenon::frontends {

GgufSource::GgufSource(GgufModel opened) : model(std::move(opened)) {
  // A key that is missing or no string is an error of `text("architecture")`.
  absl::StatusOr<std::string_view> architecture =
      model.main().optionalString("general.architecture", "");
  prefix = std::string(architecture.value_or(""));
  for (const std::shared_ptr<const GgufFile>& file : model.parts()) {
    firstOfPart.push_back(list.size());
    for (const GgufTensor& tensor : file->tensors())
      list.push_back({tensor.name, tensor.shape(), tensor.encoding, mappings.size(), tensor.offset,
                      tensor.byteSize});
    mappings.push_back(file->mapping());
  }
}

absl::StatusOr<std::unique_ptr<ModelSource>> GgufSource::open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(GgufModel model, GgufModel::open(path));
  return std::unique_ptr<ModelSource>(new GgufSource(std::move(model)));
}

absl::StatusOr<std::unique_ptr<ModelSource>>
GgufSource::create(std::shared_ptr<const MappedFile> mapped, const AdaptTensor& adapt) {
  TENON_ASSIGN_OR_RETURN(auto file, GgufFile::create(std::move(mapped)));
  TENON_ASSIGN_OR_RETURN(GgufModel model, GgufModel::create(std::move(file)));
  std::unique_ptr<GgufSource> source(new GgufSource(std::move(model)));
  if (adapt)
    std::ranges::for_each(source->list, adapt);
  return source;
}

std::string GgufSource::fullKey(std::string_view key) const {
  bool isGeneral = key == "architecture" || key == "name";
  return absl::StrFormat("%s.%s", isGeneral ? "general" : prefix, key);
}

absl::Status GgufSource::keyError(std::string_view key, const std::string& expected,
                                  const std::string& found) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s: metadata key '%s' expects %s, but got %s",
                                                    path(), fullKey(key), expected, found));
}

/// A number or bool as a number.
static std::optional<double> numberOf(const GgufValue& value) {
  if (std::optional<bool> truth = value.asBool())
    return *truth ? 1 : 0;
  if (std::optional<int64_t> integer = value.asI64())
    return static_cast<double>(*integer);
  return value.asF64();
}

std::vector<SourceKey> GgufSource::keys() const {
  std::vector<SourceKey> keys;
  std::string begin = prefix + ".";
  for (const GgufMetadata& entry : model.main().metadata())
    if (!prefix.empty() && entry.key.starts_with(begin))
      keys.push_back({.canonical = std::string(entry.key.substr(begin.size())),
                      .stored = std::string(entry.key),
                      .value = entry.value.text(),
                      .number = numberOf(entry.value)});
  return keys;
}

absl::StatusOr<uint64_t> GgufSource::integer(std::string_view key, uint64_t highest) const {
  return model.main().requireU64(fullKey(key), highest);
}

absl::StatusOr<float> GgufSource::number(std::string_view key) const {
  return model.main().requireF32(fullKey(key));
}

absl::StatusOr<bool> GgufSource::flag(std::string_view key) const {
  return model.main().requireBool(fullKey(key));
}

absl::StatusOr<std::string_view> GgufSource::text(std::string_view key) const {
  return model.main().requireString(fullKey(key));
}

bool GgufSource::hasTensor(std::string_view name) const {
  return model.fileWith(name).findTensor(name) != nullptr;
}

absl::StatusOr<const SourceTensor*>
GgufSource::requireTensor(std::string_view name, std::span<const int64_t> shape) const {
  size_t part = model.partWith(name);
  const GgufFile& file = *model.parts()[part];
  TENON_ASSIGN_OR_RETURN(const GgufTensor* tensor, shape.empty() ? file.requireTensor(name)
                                                                 : file.requireTensor(name, shape));
  return &list[firstOfPart[part] + (tensor - file.tensors().data())];
}

absl::StatusOr<runtime::TokenizerSpec> GgufSource::tokenizer() const {
  return readGgufTokenizer(model.main());
}

absl::Status GgufSource::checkVocabulary(int64_t rows) const {
  const GgufValue* tokens = model.main().find("tokenizer.ggml.tokens");
  if (!tokens || tokens->type != GgufValueType::Array ||
      tokens->count == static_cast<uint64_t>(rows))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: metadata key 'tokenizer.ggml.tokens' expects as many tokens as the %d rows of tensor "
      "'token_embd.weight', but got %d",
      path(), rows, tokens->count));
}

static bool recognizesGguf(const std::string& path, std::span<const std::byte> head) {
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size())
      .starts_with("GGUF");
}

extern const Frontend ggufFrontend;
constexpr Frontend ggufFrontend = {
    .name = "GGUF", .recognizes = recognizesGguf, .open = GgufSource::open};

} // namespace tenon::frontends
