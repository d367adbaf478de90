// A Hugging Face model whose attention is quantised, in the containers of several tools: the logits
// of its dequantised form.
#include <cmath>
#include <map>
#include <random>

#include "tests/Tolerances.h"
#include "tests/frontends/golden/QuantisedFolder.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

using containers::test::Matrix;
using containers::test::Written;
using nlohmann::json;

const std::string source = TENON_TEST_DATA "/stories260K/gptq4-g32";

uint32_t wordOf(const Tensor& tensor, size_t index) {
  uint32_t word = 0;
  std::memcpy(&word, tensor.bytes.data() + 4 * index, 4);
  return word;
}

/// The matrix of a layer of the source, GPTQ's version 1 of 4 bits in groups of 32.
Matrix readMatrix(const Tensors& tensors, const std::string& layer) {
  const Tensor& codes = tensors.at(layer + ".qweight");
  Matrix m{.bits = 4,
           .rows = codes.shape[1],
           .columns = codes.shape[0] * 8,
           .groupSize = 32,
           .codes = {},
           .zeros = {},
           .scales = {},
           .groupOf = {}};
  for (int64_t n = 0; n < m.rows; ++n) {
    for (int64_t k = 0; k < m.columns; ++k)
      m.codes.push_back(wordOf(codes, k / 8 * m.rows + n) >> k % 8 * 4 & 15);
    for (int64_t g = 0; g < m.groups(); ++g) {
      uint32_t word = wordOf(tensors.at(layer + ".qzeros"), (g * m.rows + n) / 8);
      m.zeros.push_back((word >> n % 8 * 4 & 15) + 1);
      uint16_t scale = 0;
      std::memcpy(&scale, tensors.at(layer + ".scales").bytes.data() + 2 * (g * m.rows + n), 2);
      m.scales.push_back(scale);
    }
  }
  for (int64_t k = 0; k < m.columns; ++k)
    m.groupOf.push_back(static_cast<int32_t>(k / m.groupSize));
  return m;
}

struct Container {
  std::string name;
  json settings;
  PartNames suffixes;
  Written (*write)(const Matrix& m);
  void (*change)(Matrix& m) = [](Matrix&) {};
};

void orderByActivations(Matrix& m) {
  std::mt19937 random(static_cast<uint32_t>(m.rows));
  std::ranges::shuffle(m.groupOf, random);
}

std::vector<Container> containersOfModel() {
  return {
      {"gptq",
       {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}},
       gptqNames,
       [](const Matrix& m) { return writeGptq(m, /*lessOne=*/true); }},
      {"gptq_v2_order",
       {{"quant_method", "gptq"},
        {"bits", 4},
        {"group_size", 32},
        {"desc_act", true},
        {"checkpoint_format", "gptq_v2"}},
       gptqNames,
       [](const Matrix& m) { return writeGptq(m, /*lessOne=*/false); },
       orderByActivations},
      {"awq_gemm",
       {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 32}, {"version", "gemm"}},
       gptqNames,
       [](const Matrix& m) { return writeAwqGemm(m); },
       [](Matrix& m) { std::ranges::replace(m.zeros, 16u, 15u); }},
      {"awq_gemv",
       {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 32}, {"version", "GEMV"}},
       gptqNames,
       [](const Matrix& m) { return writeAwqGemv(m); },
       [](Matrix& m) { std::ranges::replace(m.zeros, 16u, 15u); }},
      {"pack_quantized", packedSettings(), packedNames,
       [](const Matrix& m) { return writePackQuantized(m, 0, /*withIndex=*/true); },
       [](Matrix& m) {
         std::ranges::replace(m.zeros, 16u, 15u);
         orderByActivations(m);
       }},
  };
}

/// A quantised model gives the logits and the outputs of blocks of its plain form.
void expectSameLogits(const Tensors& quantised, const json& settings, const Tensors& plain) {
  TempFolder folder, plainFolder;
  writeFolder(folder, quantised, settings, source);
  writeFolder(plainFolder, plain, nullptr, source);
  ReferenceModel model(folder.path("")), expected(plainFolder.path(""));
  const std::vector<int32_t> ids = {1, 403, 407, 261, 378};
  std::vector<Results> found = model.decodeAll(ids), wanted = expected.decodeAll(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(found[i].size(), wanted[i].size());
    for (size_t j = 0; j < wanted[i].size(); ++j) // logits, then the output of every block
      EXPECT_LE(relativeError(found[i][j], wanted[i][j]), relativeToLargest) << i << ", " << j;
  }
}

class QuantisedHf : public ::testing::TestWithParam<Container> {};

TEST_P(QuantisedHf, LogitsOfTheDequantisedForm) {
  const Container& container = GetParam();
  Tensors quantised = readTensors(source), plain = quantised;
  for (const auto& [name, tensor] : readTensors(source)) {
    if (!name.ends_with(".qweight"))
      continue;
    std::string layer = name.substr(0, name.rfind('.'));
    Matrix m = readMatrix(quantised, layer);
    container.change(m);
    for (const char* suffix : {".qweight", ".qzeros", ".scales", ".g_idx"})
      quantised.erase(layer + suffix), plain.erase(layer + suffix);
    plain[layer + ".weight"] = plainTensor(m);
    store(quantised, layer, container.write(m), container.suffixes);
  }
  expectSameLogits(quantised, container.settings, plain);
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedHf, ::testing::ValuesIn(containersOfModel()),
                         [](const auto& info) { return info.param.name; });

// Beside weights of 16 bits; a scale for each 32 rows and 64 columns.
TEST(QuantisedHf, LogitsOfFloat8) {
  Tensors quantised = readTensors(source), plain = quantised;
  for (const auto& [name, tensor] : readTensors(source)) {
    if (!name.ends_with(".qweight"))
      continue;
    std::string layer = name.substr(0, name.rfind('.'));
    int64_t rows = tensor.shape[1], columns = tensor.shape[0] * 8;
    for (const char* suffix : {".qweight", ".qzeros", ".scales", ".g_idx"})
      quantised.erase(layer + suffix), plain.erase(layer + suffix);
    std::string codes;
    std::vector<float> scales, values;
    for (int64_t i = 0; i < rows / 32; ++i)
      scales.push_back(0.0078125f * static_cast<float>(i + 3));
    for (int64_t i = 0; i < rows * columns; ++i) {
      int code = static_cast<int>(i * 37 % 251 % 0x60) | (i % 3 == 0 ? 0x80 : 0);
      codes.push_back(static_cast<char>(code));
      int exponent = code >> 3 & 15, mantissa = code & 7;
      double magnitude =
          exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
      values.push_back(scales[i / columns / 32] *
                       static_cast<float>(code & 0x80 ? -magnitude : magnitude));
    }
    auto bytesOf = [](const std::vector<float>& list) {
      return std::string(reinterpret_cast<const char*>(list.data()), 4 * list.size());
    };
    quantised[layer + ".weight"] = {"F8_E4M3", {rows, columns}, codes};
    quantised[layer + ".weight_scale_inv"] = {"F32", {rows / 32, 1}, bytesOf(scales)};
    plain[layer + ".weight"] = {"F32", {rows, columns}, bytesOf(values)};
  }
  expectSameLogits(quantised, {{"quant_method", "fp8"}, {"weight_block_size", {32, 64}}}, plain);
}

// Two E2M1 numbers a byte, a power of two for each 32.
TEST(QuantisedHf, LogitsOfMxfp4) {
  constexpr float e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};
  Tensors quantised = readTensors(source), plain = quantised;
  for (const auto& [name, tensor] : readTensors(source)) {
    if (!name.ends_with(".qweight"))
      continue;
    std::string layer = name.substr(0, name.rfind('.'));
    int64_t rows = tensor.shape[1], columns = tensor.shape[0] * 8;
    for (const char* suffix : {".qweight", ".qzeros", ".scales", ".g_idx"})
      quantised.erase(layer + suffix), plain.erase(layer + suffix);
    std::string codes, scales;
    std::vector<float> values;
    for (int64_t i = 0; i < rows * columns / 32; ++i)
      scales.push_back(static_cast<char>(120 + i % 4));
    for (int64_t i = 0; i < rows * columns; ++i) {
      int code = static_cast<int>(i * 37 % 251 % 16);
      if (i % 2 == 0)
        codes.push_back(static_cast<char>(code));
      else
        codes.back() = static_cast<char>(codes.back() | code << 4);
      values.push_back(std::ldexp(e2m1[code], scales[i / 32] - 127));
    }
    quantised[layer + ".weight_packed"] = {"U8", {rows, columns / 2}, codes};
    quantised[layer + ".weight_scale"] = {"U8", {rows, columns / 32}, scales};
    plain[layer + ".weight"] = {
        "F32",
        {rows, columns},
        std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size())};
  }
  json settings = packedSettings();
  settings["format"] = "mxfp4-pack-quantized";
  expectSameLogits(quantised, settings, plain);
}

// Logits and ids computed in float64 from the GPTQ checkpoint.
TEST(QuantisedHf, StoriesInGptq) {
  auto run = json::parse(readFile(TENON_TEST_DATA "/stories260K/stories260K-gptq4-g32.json"));
  GreedyRun greedy{run.at("prompt_ids").get<std::vector<int32_t>>(),
                   run.at("greedy_ids").get<std::vector<int32_t>>()};
  ReferenceModel model(source);
  expectGreedy(model, greedy);
  std::vector<int32_t> ids(greedy.promptIds);
  ids.insert(ids.end(), greedy.greedyIds.begin(), greedy.greedyIds.begin() + 8);
  expectLogits(model, ids, TENON_TEST_DATA "/stories260K/stories260K-gptq4-g32_logits_13x512.f32",
               relativeToLargest);
}

} // namespace
} // namespace tenon::tests
