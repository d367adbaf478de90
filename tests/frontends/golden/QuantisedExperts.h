#ifndef TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDEXPERTS_H
#define TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDEXPERTS_H

#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "tests/frontends/golden/QuantisedFolder.h"

/// Mixtures of experts whose experts lie in the containers of several tools; other models, too.
namespace tenon::tests {

inline constexpr int64_t expertGroup = 32;

/// A layer of an expert in its container and as it is read.
struct ExpertLayer {
  Tensors stored; ///< by what stands after the layer's name
  Tensor plain;
};

/// A weight of 4 bits; of every fourth the zeros lie in the middle of the codes.
inline containers::test::Matrix makeExpert(int64_t rows, int64_t columns, uint32_t number) {
  std::mt19937 random(number);
  return containers::test::makeRandomMatrix(
      /*bits=*/4, rows, columns, expertGroup, random,
      [&] { return number % 4 == 0 ? 8 : static_cast<uint32_t>(1 + random() % 15); },
      [&] { return static_cast<float>(1 + random() % 100) / 4096; });
}

inline ExpertLayer writeIntegers(const containers::test::Matrix& m,
                                 const containers::test::Written& written,
                                 const PartNames& suffixes) {
  ExpertLayer layer{.stored = {}, .plain = plainTensor(m)};
  store(layer.stored, "", written, suffixes);
  return layer;
}

/// E4M3 codes with a scale for every `blockRows` rows and, of those, all or 32 columns.
inline ExpertLayer writeFloat8(int64_t rows, int64_t columns, uint32_t number, int64_t blockRows,
                               int64_t blockColumns, const char* scaleName) {
  std::mt19937 random(number);
  const int64_t across = columns / blockColumns;
  std::vector<float> scales(rows / blockRows * across), values;
  for (float& scale : scales)
    scale = std::ldexp(static_cast<float>(1 + random() % 7), -9);
  std::string codes;
  for (int64_t i = 0; i < rows * columns; ++i) {
    uint32_t code = random() % 0x60 | (random() % 2 << 7);
    int exponent = static_cast<int>(code >> 3 & 15), mantissa = static_cast<int>(code & 7);
    double size =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    float scale = scales[i / columns / blockRows * across + i % columns / blockColumns];
    codes.push_back(static_cast<char>(code));
    values.push_back(scale * static_cast<float>(code & 0x80 ? -size : size));
  }
  auto bytesOf = [](const std::vector<float>& list) {
    return std::string(reinterpret_cast<const char*>(list.data()), 4 * list.size());
  };
  return {.stored = {{".weight", {"F8_E4M3", {rows, columns}, codes}},
                     {std::string(".") + scaleName,
                      {"F32", {rows / blockRows, across}, bytesOf(scales)}}},
          .plain = {"F32", {rows, columns}, bytesOf(values)}};
}

/// A way to store experts.
struct ExpertContainer {
  std::string name;
  nlohmann::json settings;
  std::string encoding; ///< of what has rows of 64 columns
  ExpertLayer (*write)(int64_t rows, int64_t columns, uint32_t number);

  friend void PrintTo(const ExpertContainer& container, std::ostream* out) {
    *out << container.name;
  }
};

inline nlohmann::json float8Settings() {
  nlohmann::json settings = packedSettings();
  settings["format"] = "float-quantized";
  settings["config_groups"]["group_0"]["weights"] = {
      {"num_bits", 8}, {"type", "float"}, {"strategy", "channel"}};
  return settings;
}

inline std::vector<ExpertContainer> expertContainers() {
  return {
      {"gptq",
       {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", expertGroup}},
       "int4_g32_f16_zero",
       [](int64_t rows, int64_t columns, uint32_t number) {
         containers::test::Matrix m = makeExpert(rows, columns, number);
         return writeIntegers(m, writeGptq(m, /*lessOne=*/true), gptqNames);
       }},
      {"awq",
       {{"quant_method", "awq"}, {"bits", 4}, {"group_size", expertGroup}, {"version", "gemm"}},
       "int4_g32_f16_zero",
       [](int64_t rows, int64_t columns, uint32_t number) {
         containers::test::Matrix m = makeExpert(rows, columns, number);
         return writeIntegers(m, writeAwqGemm(m), gptqNames);
       }},
      {"pack_quantized", packedSettings(), "int4_g32_f16_zero",
       [](int64_t rows, int64_t columns, uint32_t number) {
         containers::test::Matrix m = makeExpert(rows, columns, number);
         return writeIntegers(m, writePackQuantized(m), packedNames);
       }},
      {"float_quantized", float8Settings(), "e4m3_g64_f32",
       [](int64_t rows, int64_t columns, uint32_t number) {
         return writeFloat8(rows, columns, number, 1, columns, "weight_scale");
       }},
      {"fp8_blocks",
       {{"quant_method", "fp8"}, {"weight_block_size", {16, 32}}},
       "e4m3_g32_f32",
       [](int64_t rows, int64_t columns, uint32_t number) {
         return writeFloat8(rows, columns, number, 16, 32, "weight_scale_inv");
       }},
  };
}

/// Whether a tensor is the weight of an expert.
inline bool isOfExpert(const std::string& name, const Tensor& /*tensor*/) {
  return name.find(".experts.") != name.npos;
}

/// The folder `source` (in f32) with the weights that `isChosen` names in `container` and in f32.
struct QuantisedForms {
  TempFolder quantised, plain;

  QuantisedForms(const std::string& source, const ExpertContainer& container,
                 bool (*isChosen)(const std::string& name, const Tensor& tensor) = isOfExpert) {
    Tensors stored = readTensors(source), values = stored;
    uint32_t number = 0;
    for (const auto& [name, tensor] : readTensors(source)) {
      if (!isChosen(name, tensor))
        continue;
      std::string module = name.substr(0, name.rfind('.'));
      ExpertLayer layer = container.write(tensor.shape[0], tensor.shape[1], ++number);
      stored.erase(name);
      for (const auto& [suffix, part] : layer.stored)
        stored[module + suffix] = part;
      values[name] = layer.plain;
    }
    EXPECT_GT(number, 0u);
    writeFolder(quantised, stored, container.settings, source);
    writeFolder(plain, values, nullptr, source);
  }
};

} // namespace tenon::tests

#endif // TENON_TESTS_FRONTENDS_GOLDEN_QUANTISEDEXPERTS_H
