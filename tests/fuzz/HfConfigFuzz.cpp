// config.json of a Hugging Face folder, beside tensors with the names of every family.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "frontends/hf/HfFamily.h"
#include "frontends/hf/HfSource.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;
using namespace tenon::frontends;
namespace fs = std::filesystem;

/// A folder with a safetensors file, removed at exit.
class Folder {
public:
  Folder() {
    // No cache: a file for each configuration would fill the disk.
    for (const char* name : {"TENON_CACHE_DIR", "XDG_CACHE_HOME", "HOME"})
      ::unsetenv(name);
    std::string pattern = (fs::temp_directory_path() / "tenon-fuzz-XXXXXX").string();
    fuzz::require(::mkdtemp(pattern.data()) != nullptr, "cannot make a folder");
    path = pattern;
    nlohmann::json table;
    for (const HfFamily* family : allHfFamilies())
      for (const TensorName& name : family->names)
        for (const char* suffix : {"weight", "bias"}) {
          std::string stored =
              storedTensorName(*family, "blk.0." + std::string(name.canonical) + "." + suffix);
          if (size_t expert = stored.find('#'); expert != stored.npos)
            stored[expert] = '0';
          if (name.canonical.find('.') != name.canonical.npos)
            stored = storedTensorName(*family, "blk.0." + std::string(name.canonical));
          table[stored] = {{"dtype", "F16"}, {"shape", {6, 8}}, {"data_offsets", {0, 96}}};
          if (stored.ends_with("_blocks"))
            table[stored] = {{"dtype", "U8"}, {"shape", {2, 3, 1, 16}}, {"data_offsets", {0, 96}}};
          if (stored.ends_with("_scales"))
            table[stored] = {{"dtype", "U8"}, {"shape", {2, 3, 1}}, {"data_offsets", {0, 6}}};
        }
    std::string header = table.dump();
    uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    write("model.safetensors", bytes + header + std::string(96, '\0'));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  void write(const char* name, std::string_view bytes) const {
    std::ofstream((fs::path(path) / name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  std::string path;
};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  folder.write("config.json", {reinterpret_cast<const char*>(data), size});
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
