#include "frontends/hf/HfSource.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/HfTokenizer.h"
#include "frontends/hf/internal/ColumnOrders.h"
#include "frontends/models/Frontend.h"
#include "support/MessageText.h"
#include "support/Status.h"
#include "support/Warning.h"

namespace tenon::frontends {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view configName = "config.json";
constexpr std::string_view oneFileName = "model.safetensors";
constexpr std::string_view indexName = "model.safetensors.index.json";
/// More parts than any model has.
constexpr size_t mostParts = 4096;
constexpr std::string_view outputTensor = "output.weight";

std::string joinPath(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

bool existsIn(const std::string& folder, std::string_view name) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / name, ignored);
}

/// The folder of a safetensors file; a folder is its own.
std::string folderOf(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return path;
  fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// The files that the index names, each once, in the order of their names.
absl::StatusOr<std::set<std::string>> readParts(const JsonFile& index) {
  const json* map = index.find("weight_map");
  if (!map || !map->is_object())
    return index.error("weight_map", "an object", map ? describeJson(*map) : "none");
  std::set<std::string> parts;
  for (const auto& [tensor, file] : map->items()) {
    std::string key = absl::StrCat("weight_map.", tensor);
    if (!file.is_string())
      return index.error(key, "the name of a file", file);
    const std::string& name = file.get_ref<const std::string&>();
    bool isPlain = name.ends_with(".safetensors") && name.find('/') == name.npos &&
                   name.find('\0') == name.npos;
    if (!isPlain)
      return index.error(key, "the name of a safetensors file beside it", file);
    parts.insert(name);
    if (parts.size() > mostParts)
      return index.error("weight_map", absl::StrFormat("at most %d files", mostParts),
                         std::string("more"));
  }
  return parts;
}

} // namespace

absl::StatusOr<std::unique_ptr<ModelSource>> HfSource::open(const std::string& path) {
  std::string folder = folderOf(path);
  TENON_ASSIGN_OR_RETURN(JsonFile file, JsonFile::open(joinPath(folder, configName)));
  TENON_ASSIGN_OR_RETURN(TextModel model, findTextModel(std::move(file)));
  const HfFamily& family = model.family;
  HfKeys keys(std::move(model.config));
  keys.use("model_type");
  keys.set("architecture", "model_type", std::string(family.architecture));
  std::string name = fs::path(folder).lexically_normal().filename().string();
  keys.set("name", "_name_or_path", name.empty() ? std::string(family.modelType) : name);
  TENON_RETURN_IF_ERROR(family.readKeys(keys));
  std::unique_ptr<HfSource> source(new HfSource(folder, std::move(keys), family, model.isNested));
  TENON_RETURN_IF_ERROR(source->openFiles());
  return std::unique_ptr<ModelSource>(std::move(source));
}

absl::Status HfSource::openFiles() {
  TENON_RETURN_IF_ERROR(openShards());
  if (imageTensors > 0) { // said once, however the path is spelt
    std::error_code ignored;
    fs::path whole = fs::absolute(folder, ignored);
    warnOnce(absl::StrFormat("%s: %d tensors of images are passed over; the text model alone is "
                             "read",
                             whole.lexically_normal().string(), imageTensors));
  }
  TENON_RETURN_IF_ERROR(findPackedWeights());
  TENON_RETURN_IF_ERROR(joinExperts());
  TENON_RETURN_IF_ERROR(tieOutput());
  TENON_RETURN_IF_ERROR(splitAlternating());
  return changeTensors();
}

absl::Status HfSource::openShards() {
  if (existsIn(folder, oneFileName) || !existsIn(folder, indexName)) {
    TENON_ASSIGN_OR_RETURN(SafetensorsFile file,
                           SafetensorsFile::open(joinPath(folder, oneFileName)));
    return addTensors(file);
  }
  TENON_ASSIGN_OR_RETURN(JsonFile index, JsonFile::open(joinPath(folder, indexName)));
  TENON_ASSIGN_OR_RETURN(std::set<std::string> parts, readParts(index));
  std::set<std::string> found;
  for (const std::string& part : parts) {
    TENON_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(joinPath(folder, part)));
    TENON_RETURN_IF_ERROR(addTensors(file));
    for (const SafetensorsTensor& tensor : file.tensors())
      found.insert(tensor.name);
  }
  for (const auto& [tensor, file] : index.find("weight_map")->items())
    if (!found.contains(tensor))
      return index.error(absl::StrCat("weight_map.", tensor), "a file with that tensor", file);
  return absl::OkStatus();
}

static absl::Status repeatedTensor(const std::string& folder, std::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: expects each tensor once, but got %s twice", folder, quoteName(name)));
}

absl::Status HfSource::addTensors(const SafetensorsFile& file) {
  for (const SafetensorsTensor& tensor : file.tensors()) {
    if (isNested && isOfImages(tensor.name)) {
      ++imageTensors;
      continue;
    }
    if (isNested && !hasPrefixes)
      hasPrefixes = findPrefixes(family, tensor.name);
    std::optional<CanonicalName> name = canonicalTensorName(family, tensor.name);
    if (!name)
      continue;
    SourceTensor place;
    place.shape = tensor.shape;
    place.encoding = tensor.encoding;
    place.file = mappings.size();
    place.offset = tensor.offset;
    place.byteSize = tensor.encoding ? tensor.byteSize : 0;
    if (name->expert) {
      bool isNew =
          experts[name->name].emplace(*name->expert, ExpertPart{std::move(place), tensor}).second;
      if (!isNew)
        return repeatedTensor(folder, tensor.name);
      continue;
    }
    stored.emplace(name->name, tensor);
    TENON_RETURN_IF_ERROR(addTensor(std::move(place), std::move(name->name)));
  }
  mappings.push_back(file.mapping());
  return absl::OkStatus();
}

absl::Status HfSource::addTensor(SourceTensor tensor, std::string name) {
  auto [at, isNew] = indexByName.try_emplace(names.emplace_back(std::move(name)), list.size());
  if (!isNew)
    return repeatedTensor(folder, storedTensorName(family, names.back()));
  tensor.name = at->first;
  list.push_back(std::move(tensor));
  return absl::OkStatus();
}

absl::Status HfSource::expertsError(const std::string& name, const std::string& expected,
                                    const std::string& found) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s: tensors %s expect %s, but got %s", folder,
                                                    quoteName(storedTensorName(family, name)),
                                                    expected, found));
}

absl::Status HfSource::checkExperts(const std::string& name,
                                    const std::map<int64_t, ExpertPart>& parts) const {
  int64_t number = 0;
  for (const auto& [expert, part] : parts)
    if (expert != number++)
      return expertsError(name, absl::StrFormat("expert %d", number - 1),
                          absl::StrFormat("%d next", expert));
  return absl::OkStatus();
}

absl::Status HfSource::joinExperts() {
  for (const auto& [name, parts] : experts) {
    const SourceTensor& first = parts.begin()->second.place;
    TENON_RETURN_IF_ERROR(checkExperts(name, parts));
    for (const auto& [expert, tensor] : parts) {
      const SourceTensor& part = tensor.place;
      if (!part.encoding)
        return expertsError(name, "one of the types F32, F16 and BF16",
                            absl::StrFormat("another for expert %d", expert));
      if (part.shape != first.shape || part.encoding != first.encoding)
        return expertsError(name,
                            absl::StrFormat("shape %s in %s", shapeText(first.shape),
                                            std::string(first.encoding->name)),
                            absl::StrFormat("%s in %s for expert %d", shapeText(part.shape),
                                            std::string(part.encoding->name), expert));
    }
    SourceTensor joined;
    joined.shape = first.shape;
    joined.shape.insert(joined.shape.begin(), std::ssize(parts));
    joined.encoding = first.encoding;
    TENON_RETURN_IF_ERROR(addTensor(std::move(joined), name));
  }
  return absl::OkStatus();
}

absl::Status HfSource::tieOutput() {
  constexpr std::string_view key = "tie_word_embeddings";
  config.use(key);
  const JsonFile& file = config.config();
  TENON_ASSIGN_OR_RETURN(bool ties, file.flag(file.root(), "", key, family.tiesOutput));
  auto output = indexByName.find(outputTensor);
  if (!ties && output == indexByName.end())
    return file.error(key,
                      absl::StrFormat("true where there is no tensor '%s'",
                                      storedTensorName(family, outputTensor)),
                      std::string("false"));
  // Models with images take the file's, where it has one.
  if (!ties || isNested || output == indexByName.end())
    return absl::OkStatus();
  // Transformers puts the embedding in its place.
  packed.erase(std::string(outputTensor));
  drop({std::string(outputTensor)});
  return absl::OkStatus();
}

void HfSource::drop(const std::set<std::string, std::less<>>& dropped) {
  std::erase_if(list, [&](const SourceTensor& tensor) { return dropped.contains(tensor.name); });
  indexByName.clear();
  for (size_t i = 0; i < list.size(); ++i)
    indexByName.emplace(list[i].name, i);
}

absl::Status HfSource::splitAlternating() {
  if (!family.alternating)
    return absl::OkStatus();
  std::string end = absl::StrCat(".", std::string(family.alternating->stored), ".");
  const size_t count = list.size();
  for (size_t i = 0; i < count; ++i) {
    SourceTensor whole = list[i];
    std::string name(whole.name);
    size_t at = name.find(end);
    if (at == name.npos)
      continue;
    for (auto [half, kind] : {std::pair{family.alternating->even, RowChoice::Even},
                              {family.alternating->odd, RowChoice::Odd}}) {
      std::string own =
          absl::StrCat(name.substr(0, at + 1), std::string(half), name.substr(at + end.size() - 1));
      halves[own] = {.whole = name, .rows = {kind}};
      if (kind == RowChoice::Odd) {
        TENON_RETURN_IF_ERROR(addTensor(whole, std::move(own)));
        continue;
      }
      indexByName.erase(list[i].name);
      list[i].name = indexByName.emplace(names.emplace_back(std::move(own)), i).first->first;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<HeadCounts> HfSource::headCounts() const {
  constexpr int64_t most = int64_t(1) << 16;
  HeadCounts heads;
  TENON_ASSIGN_OR_RETURN(heads.queries, count("attention.head_count", most));
  TENON_ASSIGN_OR_RETURN(heads.keys, count("attention.head_count_kv", most, heads.queries));
  if (heads.queries % heads.keys != 0)
    return keyError("attention.head_count_kv",
                    absl::StrFormat("a divisor of the %d heads", heads.queries),
                    absl::StrCat(heads.keys));
  return heads;
}

absl::Status HfSource::changeTensors() {
  ChangedTensors changed(folder, config.config().root().dump());
  const std::map<std::string_view, RowChoice> orders = moveColumnOrders(list, family);
  std::vector<size_t> places;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string name(list[i].name);
    RowChoice rows;
    if (auto half = halves.find(name); half != halves.end())
      name = half->second.whole, rows = half->second.rows;
    else if (auto ordered = orders.find(name); ordered != orders.end())
      rows = ordered->second;
    TensorChange change = family.changeOf(name);
    if (auto found = packed.find(name); found != packed.end()) {
      const auto& [weights, shape] = found->second;
      // Blocks of experts have the canonical order.
      if (change != TensorChange::None && shape.size() == 2)
        return absl::InvalidArgumentError(
            absl::StrFormat("%s: tensor %s expects a weight that is not quantised, because its "
                            "rows or columns are put in another order",
                            folder, quoteName(storedTensorName(family, name))));
      TENON_RETURN_IF_ERROR(changed.add(weights, shape, storedTensorName(family, name), rows));
      places.push_back(i);
      continue;
    }
    if (auto parts = experts.find(list[i].name); parts != experts.end()) {
      std::vector<SourceTensor> tensors;
      for (const auto& [expert, part] : parts->second)
        tensors.push_back(part.place);
      changed.add(tensors, *this);
      places.push_back(i);
      continue;
    }
    if ((change == TensorChange::None && rows.kind == RowChoice::All) || !list[i].encoding)
      continue;
    HeadCounts heads;
    if (change == TensorChange::GroupHeads) {
      TENON_ASSIGN_OR_RETURN(heads, headCounts());
    }
    TENON_RETURN_IF_ERROR(
        changed.add(change, list[i], *this, heads, storedTensorName(family, name), rows));
    places.push_back(i);
  }
  for (const auto& [name, values] : config.tensors()) {
    changed.add(values);
    places.push_back(list.size());
    TENON_RETURN_IF_ERROR(addTensor({}, name));
  }
  if (places.empty())
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, changed.write(mappings));
  for (size_t i = 0; i < places.size(); ++i) {
    const SourceTensor& place = changed.tensors()[i];
    SourceTensor& tensor = list[places[i]];
    tensor.shape = place.shape;
    tensor.encoding = place.encoding;
    tensor.file = mappings.size();
    tensor.offset = place.offset;
    tensor.byteSize = place.byteSize;
  }
  mappings.push_back(std::move(file));
  return absl::OkStatus();
}

std::vector<SourceKey> HfSource::keys() const {
  std::vector<SourceKey> keys;
  auto add = [&](const std::string& canonical, const std::string& stored, const json& value) {
    std::optional<double> number;
    if (value.is_number())
      number = value.get<double>();
    else if (value.is_boolean())
      number = value.get<bool>() ? 1 : 0;
    keys.push_back({canonical, stored, describeJson(value), number});
  };
  for (const auto& [canonical, entry] : config.entries())
    if (canonical != "architecture" && canonical != "name")
      add(canonical, entry.stored, entry.value);
  for (const std::string& key : config.unknown())
    add(key, key, *config.config().find(key));
  return keys;
}

absl::Status HfSource::keyError(std::string_view key, const std::string& expected,
                                const std::string& found) const {
  auto entry = config.entries().find(key);
  return config.config().error(entry == config.entries().end() ? key : entry->second.stored,
                               expected, found);
}

absl::StatusOr<const json*> HfSource::require(std::string_view key) const {
  auto found = config.entries().find(key);
  if (found != config.entries().end())
    return &found->second.value;
  return absl::NotFoundError(absl::StrFormat("%s: expects a key for %s, but the file has none",
                                             config.config().path(), quoteName(key)));
}

absl::StatusOr<uint64_t> HfSource::integer(std::string_view key, uint64_t highest) const {
  TENON_ASSIGN_OR_RETURN(const json* value, require(key));
  bool isCount =
      value->is_number_integer() && (value->is_number_unsigned() || value->get<int64_t>() >= 0);
  if (!isCount)
    return keyError(key, "an integer of at least 0", describeJson(*value));
  if (value->get<uint64_t>() > highest)
    return keyError(key, absl::StrCat("an integer of at most ", highest), describeJson(*value));
  return value->get<uint64_t>();
}

absl::StatusOr<float> HfSource::number(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const json* value, require(key));
  if (!value->is_number())
    return keyError(key, "a number", describeJson(*value));
  return value->get<float>();
}

absl::StatusOr<bool> HfSource::flag(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const json* value, require(key));
  if (!value->is_boolean())
    return keyError(key, "true or false", describeJson(*value));
  return value->get<bool>();
}

absl::StatusOr<std::string_view> HfSource::text(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const json* value, require(key));
  if (!value->is_string())
    return keyError(key, "a string", describeJson(*value));
  return std::string_view(value->get_ref<const std::string&>());
}

absl::StatusOr<const SourceTensor*> HfSource::requireTensor(std::string_view name,
                                                            std::span<const int64_t> shape) const {
  std::string stored = storedTensorName(family, name);
  auto found = indexByName.find(name);
  if (found == indexByName.end())
    return absl::NotFoundError(absl::StrFormat("%s: expects tensor %s, but the folder has none",
                                               folder, quoteName(stored)));
  const SourceTensor& tensor = list[found->second];
  if (!tensor.encoding)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: tensor %s expects one of the types F32, F16, BF16 and I32, but got "
                        "another",
                        pathOf(tensor), quoteName(stored)));
  if (!shape.empty() && !std::ranges::equal(shape, tensor.shape))
    return absl::InvalidArgumentError(absl::StrFormat("%s: tensor %s expects shape %s, but got %s",
                                                      pathOf(tensor), quoteName(stored),
                                                      shapeText(shape), shapeText(tensor.shape)));
  return &tensor;
}

absl::StatusOr<runtime::TokenizerSpec> HfSource::tokenizer() const {
  return readHfTokenizer(folder, config.config());
}

static bool recognizesHf(const std::string& path, std::span<const std::byte> head) {
  std::error_code ignored;
  if (!head.empty() && !isSafetensorsHead(head))
    return false;
  if (head.empty() && !fs::is_directory(path, ignored))
    return false;
  return existsIn(folderOf(path), configName);
}

extern const Frontend hfFrontend;
constexpr Frontend hfFrontend = {
    .name = "Hugging Face", .recognizes = recognizesHf, .open = HfSource::open};

} // namespace tenon::frontends
