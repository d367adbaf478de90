// config.json of a Hugging Face folder, beside tensors with the names of its family.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "frontends/hf/HfFamily.h"
#include "frontends/hf/HfSource.h"
#include "frontends/hf/NestedModel.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;
using namespace tenon::frontends;
namespace fs = std::filesystem;

constexpr size_t dataBytes = 128;

/// The parts of a weight 8 x 32 in GPTQ's container.
static void addGptq(nlohmann::json& table, const std::string& layer) {
  table[layer + "qweight"] = {{"dtype", "I32"}, {"shape", {4, 8}}, {"data_offsets", {0, 128}}};
  table[layer + "qzeros"] = {{"dtype", "I32"}, {"shape", {1, 1}}, {"data_offsets", {0, 4}}};
  table[layer + "scales"] = {{"dtype", "F16"}, {"shape", {1, 8}}, {"data_offsets", {0, 16}}};
}

/// Adds the tensors that the family has by one of its names.
static void addTensors(nlohmann::json& table, const HfFamily& family, const TensorName& name) {
  const std::string canonical(name.canonical);
  bool isWhole = canonical.find('.') != canonical.npos;
  for (const char* suffix : {".weight", ".bias"}) {
    std::string stored = storedTensorName(family, "blk.0." + canonical + (isWhole ? "" : suffix));
    if (size_t expert = stored.find('#'); expert != stored.npos)
      stored[expert] = '0';
    table[stored] = {{"dtype", "F16"}, {"shape", {6, 8}}, {"data_offsets", {0, 96}}};
    if (stored.ends_with("_blocks"))
      table[stored] = {{"dtype", "U8"}, {"shape", {2, 3, 1, 16}}, {"data_offsets", {0, 96}}};
    if (stored.ends_with("_scales"))
      table[stored] = {{"dtype", "U8"}, {"shape", {2, 3, 1}}, {"data_offsets", {0, 6}}};
    // In place of a weight: where nothing is quantised, a tensor without use.
    bool isQuantised =
        stored.find("experts.") != stored.npos || stored.find("self_attn.q_proj.") != stored.npos;
    if (!isWhole && isQuantised && stored.ends_with(".weight")) {
      table.erase(stored);
      addGptq(table, stored.substr(0, stored.size() - std::strlen("weight")));
    }
  }
}

/// A folder with the tensors of a family, removed at exit.
class Folder {
public:
  explicit Folder(const TextModel& model) {
    std::string pattern = (fs::temp_directory_path() / "tenon-fuzz-XXXXXX").string();
    fuzz::require(::mkdtemp(pattern.data()) != nullptr, "cannot make a folder");
    path = pattern;
    nlohmann::json table;
    HfFamily family = model.family;
    if (model.isNested) {
      table["vision_tower.weight"] = {
          {"dtype", "F16"}, {"shape", {6, 8}}, {"data_offsets", {0, 96}}};
      fuzz::require(findPrefixes(family, "language_model.model.norm.weight"), "no prefix");
    }
    for (const TensorName& name : family.names)
      addTensors(table, family, name);
    std::string header = table.dump();
    uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    write("model.safetensors", bytes + header + std::string(dataBytes, '\0'));
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  void write(const char* name, std::string_view bytes) const {
    std::ofstream((fs::path(path) / name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  std::string path;
};

/// The folder of the model that the configuration names; of a Llama where it names none.
static const Folder& folderFor(std::string_view configuration) {
  static std::map<std::pair<std::string, bool>, Folder> folders;
  auto file = JsonFile::parse("config.json", configuration);
  auto model = file.ok() ? findTextModel(*file) : file.status();
  if (!model.ok())
    model = findTextModel(JsonFile::parse("", R"({"model_type": "llama"})").value());
  std::pair key(std::string(model->family.modelType), model->isNested);
  return folders.try_emplace(key, *model).first->second;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // No cache: a file for each configuration would fill the disk.
  for (const char* name : {"TENON_CACHE_DIR", "XDG_CACHE_HOME", "HOME"})
    ::unsetenv(name);
  const std::string_view configuration(reinterpret_cast<const char*>(data), size);
  const Folder& folder = folderFor(configuration);
  folder.write("config.json", configuration);
  auto source = HfSource::open(folder.path);
  if (!source.ok())
    return 0;
  for (const SourceKey& key : (*source)->keys()) {
    (*source)->count(key.canonical, 1 << 20).IgnoreError();
    (*source)->numberAbove(0, key.canonical).IgnoreError();
    (*source)->flag(key.canonical).IgnoreError();
    (*source)->text(key.canonical).IgnoreError();
  }
  for (const SourceTensor& tensor : (*source)->tensors())
    fuzz::require((*source)->data(tensor).size() == tensor.byteSize, "a tensor lost bytes");
  return 0;
}
