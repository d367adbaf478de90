// A Hugging Face model whose feed-forward layers are quantised with columns in an order by
// activations: that of down's moves to the rows of gate and up.
#include <numeric>
#include <random>

#include "frontends/hf/HfSource.h"
#include "tests/Tolerances.h"
#include "tests/frontends/golden/QuantisedFolder.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

using containers::test::Matrix;
using frontends::HfSource;
using frontends::SourceTensor;
using nlohmann::json;

const std::string source = TENON_TEST_DATA "/stories260K/gptq4-g32";
constexpr int64_t hidden = 64, inner = 192, groupSize = 32;
const json settings = {
    {"quant_method", "gptq"}, {"bits", 4}, {"group_size", groupSize}, {"desc_act", true}};

/// Values of up to about 0.16, columns dealt out to the groups in any order.
Matrix makeMatrix(int64_t rows, int64_t columns, std::mt19937& random) {
  Matrix m = containers::test::makeRandomMatrix(
      /*bits=*/4, rows, columns, groupSize, random,
      [&] { return static_cast<uint32_t>(6 + random() % 4); },
      [&] { return 0.01f + 0.001f * static_cast<float>(random() % 8); });
  std::ranges::shuffle(m.groupOf, random);
  return m;
}

/// The columns by their groups.
std::vector<int32_t> orderOf(const Matrix& m) {
  std::vector<int32_t> order(m.columns);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](int32_t column) { return std::pair(m.groupOf[column], column); });
  return order;
}

Tensor biasOf(int64_t length, std::mt19937& random) {
  std::vector<float> values;
  for (int64_t i = 0; i < length; ++i)
    values.push_back(static_cast<float>(random() % 64) / 64);
  return {"F32", {length}, std::string(reinterpret_cast<const char*>(values.data()), 4 * length)};
}

class ColumnOrdersOfFolders : public ::testing::Test {
protected:
  static constexpr int blocks = 5, withBiases = 1, withPlainUp = 2, withTensorBetween = 3,
                       withoutOrder = 4;

  ColumnOrdersOfFolders() {
    json config = json::parse(readFile(source + "/config.json"));
    config["intermediate_size"] = inner;
    base.write("config.json", config.dump());
    quantised = readTensors(source);
    for (int block = 0; block < blocks; ++block)
      for (const char* layer : {"gate", "up", "down"})
        quantised.erase(layerName(block, layer) + ".weight");
    plain = quantised;
    for (int block = 0; block < blocks; ++block)
      addBlock(block);
  }

  static std::string layerName(int block, const std::string& layer) {
    return "model.layers." + std::to_string(block) + ".mlp." + layer + "_proj";
  }

  void addBlock(int block) {
    for (const std::string layer : {"gate", "up", "down"}) {
      bool isDown = layer == "down";
      std::string name = layerName(block, layer);
      Matrix m = makeMatrix(isDown ? hidden : inner, isDown ? inner : hidden, random);
      if (isDown && block == withoutOrder)
        std::ranges::sort(m.groupOf);
      if (isDown)
        orders.push_back(orderOf(m));
      plain[name + ".weight"] = plainTensor(m);
      if (layer == "up" && block == withPlainUp)
        quantised[name + ".weight"] = plainTensor(m);
      else
        store(quantised, name, writeGptq(m, /*lessOne=*/true), gptqNames);
      if (block == withBiases)
        quantised[name + ".bias"] = plain[name + ".bias"] = biasOf(m.rows, random);
    }
  }

  /// Adds a tensor that may lie between up and down, and that no architecture reads.
  void addTensorBetween(Tensors& tensors, int block) {
    tensors["blk." + std::to_string(block) + ".ffn_sub_norm.weight"] = biasOf(inner, random);
  }

  std::mt19937 random{1};
  TempFolder base;
  Tensors quantised, plain;
  std::vector<std::vector<int32_t>> orders; ///< of down's columns, by block
};

/// The results of decode of five tokens, then of prefill with them.
std::vector<Results> run(const TempFolder& folder) {
  const std::vector<int32_t> ids = {1, 403, 407, 261, 378};
  ReferenceModel model(folder.path(""));
  std::vector<Results> results = model.decodeAll(ids);
  model.reset();
  results.push_back(model.prefill(ids));
  return results;
}

TEST_F(ColumnOrdersOfFolders, ResultsAreThoseOfTheDequantisedForm) {
  TempFolder folder, dequantised;
  writeFolder(folder, quantised, settings, base.path(""));
  writeFolder(dequantised, plain, settings, base.path(""));
  std::vector<Results> found = run(folder), wanted = run(dequantised);
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t j = 0; j < wanted[i].size(); ++j)
      EXPECT_LE(relativeError(found[i][j], wanted[i][j]), relativeToLargest) << i << ", " << j;
}

TEST_F(ColumnOrdersOfFolders, RowsOfGateAndUpHaveThem) {
  Tensors some = quantised, none = quantised;
  addTensorBetween(some, withTensorBetween);
  for (int block = 0; block < blocks; ++block)
    addTensorBetween(none, block);
  TempFolder folder, keepingFolder;
  writeFolder(folder, some, settings, base.path(""));
  writeFolder(keepingFolder, none, settings, base.path(""));
  auto moved = HfSource::open(folder.path("")).value();
  auto keeping = HfSource::open(keepingFolder.path("")).value();
  for (int block = 0; block < blocks; ++block) {
    std::string prefix = "blk." + std::to_string(block) + ".ffn_";
    bool moves = block != withTensorBetween && block != withoutOrder;
    EXPECT_EQ(moved->requireTensor(prefix + "down.weight").value()->permutation.empty(),
              block != withTensorBetween);
    EXPECT_EQ(keeping->requireTensor(prefix + "down.weight").value()->permutation.empty(),
              block == withoutOrder);
    for (std::string name : {"gate.weight", "gate.bias", "up.weight", "up.bias"}) {
      name.insert(0, prefix);
      if (!moved->hasTensor(name))
        continue;
      const SourceTensor& tensor = *moved->requireTensor(name).value();
      const SourceTensor& kept = *keeping->requireTensor(name).value();
      ASSERT_EQ(tensor.shape, kept.shape);
      EXPECT_TRUE(std::ranges::equal(tensor.permutation, kept.permutation));
      auto bytes = moved->data(tensor), stored = keeping->data(kept);
      const size_t rowBytes = bytes.size() / inner;
      for (int64_t row = 0; row < inner; ++row) {
        int64_t from = moves ? orders[block][row] : row;
        EXPECT_TRUE(std::ranges::equal(bytes.subspan(row * rowBytes, rowBytes),
                                       stored.subspan(from * rowBytes, rowBytes)))
            << name << ", row " << row;
      }
    }
  }
}

} // namespace
} // namespace tenon::tests
