#ifndef TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDFOLDER_H
#define TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDFOLDER_H

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "frontends/hf/SafetensorsFile.h"
#include "ir/encoding/Float16.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/ir/containers/WeightWriter.h"

/// Hugging Face folders whose weights tests put into containers.
namespace tenon::tests {

/// Tensors by name, as a file is to have them.
struct Tensor {
  std::string type;
  std::vector<int64_t> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, Tensor>;

/// Those of a folder.
inline Tensors readTensors(const std::string& folder) {
  auto file = frontends::SafetensorsFile::open(folder + "/model.safetensors");
  EXPECT_THAT(file, IsOk());
  Tensors tensors;
  for (const frontends::SafetensorsTensor& tensor : file->tensors()) {
    auto bytes = file->mapping()->bytes().subspan(tensor.offset, tensor.byteSize);
    tensors[tensor.name] = {tensor.type, tensor.shape,
                            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  }
  return tensors;
}

/// Writes a folder with these tensors, the config.json of `model` and `settings` as quantization_config.
inline void writeFolder(const TempFolder& folder, const Tensors& tensors,
                        const nlohmann::json& settings, const std::string& model) {
  using nlohmann::json;
  json header;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    size_t begin = data.size();
    data += tensor.bytes;
    header[name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  uint64_t length = text.size();
  folder.write("model.safetensors",
               std::string(reinterpret_cast<const char*>(&length), 8) + text + data);
  json config = json::parse(readFile(model + "/config.json"));
  config.erase("quantization_config");
  if (!settings.is_null())
    config["quantization_config"] = settings;
  folder.write("config.json", config.dump());
}

/// What stands after a layer's name and a dot.
using PartNames = std::map<containers::Part, std::string>;
inline const PartNames gptqNames = {{containers::Part::Codes, "qweight"},
                                    {containers::Part::Zeros, "qzeros"},
                                    {containers::Part::Scales, "scales"},
                                    {containers::Part::GroupIndex, "g_idx"}};
inline const PartNames packedNames = {{containers::Part::Codes, "weight_packed"},
                                      {containers::Part::Zeros, "weight_zero_point"},
                                      {containers::Part::Scales, "weight_scale"},
                                      {containers::Part::GroupIndex, "weight_g_idx"}};

inline nlohmann::json packedSettings() {
  return nlohmann::json::parse(R"({"quant_method": "compressed-tensors", "format": "pack-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int",
    "symmetric": false, "strategy": "group", "group_size": 32}}}, "ignore": ["lm_head"]})");
}

/// Its values in f32, which they fit into.
inline Tensor plainTensor(const containers::test::Matrix& m) {
  std::vector<float> values;
  for (int64_t n = 0; n < m.rows; ++n)
    for (int64_t k = 0; k < m.columns; ++k) {
      float scale = f16ToF32(m.scales[n * m.groups() + m.groupOf[k]]);
      int quant = static_cast<int>(m.code(n, k)) - static_cast<int>(m.zero(n, m.groupOf[k]));
      values.push_back(scale * static_cast<float>(quant));
    }
  return {"F32",
          {m.rows, m.columns},
          std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size())};
}

/// Adds the parts of a layer's weight, and its shape for what packs columns.
inline void store(Tensors& tensors, const std::string& layer,
                  const containers::test::Written& written, const PartNames& suffixes) {
  for (const containers::PartTensor& part : written.request.parts)
    tensors[layer + "." + suffixes.at(part.part)] = {
        std::string(nameOf(part.type)), part.shape,
        std::string(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size())};
  if (written.request.format.layout != containers::Layout::PackQuantized)
    return;
  const int64_t shape[] = {written.request.rows, written.request.columns};
  tensors[layer + ".weight_shape"] = {
      "I64", {2}, std::string(reinterpret_cast<const char*>(shape), sizeof shape)};
}

} // namespace tenon::tests

#endif // TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDFOLDER_H
