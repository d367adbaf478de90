#include <cstring>

#include <nlohmann/json.hpp>

#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/GgufWriter.h"
#include "ir/Dialect.h"
#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/frontends/golden/ReferenceModel.h"
#include "tools/run/Npz.h"

namespace tenon::tests {
namespace {

/// A file of the model's folder.
std::string dataFile(const std::string& name) { return TENON_TEST_DATA "/tiny-neox/" + name; }
constexpr const char* modelFile = TENON_TEST_DATA "/tiny-neox/tiny-neox-262k-f32.gguf";
constexpr int blocks = 4;

/// Intermediates of the model's own code in double: ids, each block's output, logits.
struct Reference {
  std::vector<int32_t> ids;
  std::vector<std::vector<double>> blockOutputs; ///< each [13, 64]
};

template <typename T> std::vector<T> elementsOf(const tools::NpyArray& array) {
  constexpr auto type = std::is_same_v<T, double> ? tools::NpyType::F64 : tools::NpyType::I32;
  EXPECT_EQ(array.type, type);
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

Reference readReference() {
  auto arrays = tools::readNpz(dataFile("tiny-neox-262k_ref.npz"));
  EXPECT_THAT(arrays, IsOk());
  Reference reference;
  reference.ids = elementsOf<int32_t>(arrays->at("ids"));
  for (int block = 0; block < blocks; ++block)
    reference.blockOutputs.push_back(
        elementsOf<double>(arrays->at("block" + std::to_string(block) + "_out")));
  return reference;
}

/// Each block's output at the positions of `ids`, by prefill.
std::vector<std::vector<double>> blockOutputsOf(ReferenceModel& model,
                                                const std::vector<int32_t>& ids) {
  Results results = model.prefill(ids);
  EXPECT_EQ(results.size(), 1u + blocks);
  results.erase(results.begin());
  for (std::vector<double>& output : results)
    output.resize(ids.size() * 64);
  return results;
}

class TinyNeoxTest : public ::testing::Test {
protected:
  nlohmann::json json = nlohmann::json::parse(readFile(dataFile("tiny-neox-262k_greedy.json")));
  GreedyRun runOf(size_t index) {
    const nlohmann::json& run = json.at("runs").at(index);
    return {run.at("prompt_ids").get<std::vector<int32_t>>(),
            run.at("greedy_ids").get<std::vector<int32_t>>()};
  }
};

TEST_F(TinyNeoxTest, GreedyIds) {
  ReferenceModel model(modelFile);
  for (size_t i = 0; i < json.at("runs").size(); ++i) {
    // One run has two logits that are closer than f32 resolves after four blocks.
    bool close = json.at("runs").at(i).at("min_top2_margin").get<double>() < 1e-3;
    expectGreedy(model, runOf(i), close ? relativeToLargest : 0);
  }
}

TEST_F(TinyNeoxTest, Logits) {
  Reference reference = readReference();
  std::string expected = dataFile("tiny-neox-262k_logits_13x512.f32");
  ReferenceModel rounded(modelFile);
  expectLogits(rounded, reference.ids, expected, relativeToLargest);
  ReferenceModel unrounded(modelFile, /*round=*/false);
  expectLogits(unrounded, reference.ids, expected, relativeToLargestInDouble);
}

TEST_F(TinyNeoxTest, EveryBlocksOutput) {
  Reference reference = readReference();
  for (bool round : {true, false}) {
    ReferenceModel model(modelFile, round);
    std::vector<std::vector<double>> found = blockOutputsOf(model, reference.ids);
    for (int block = 0; block < blocks; ++block)
      EXPECT_LE(relativeError(found[block], reference.blockOutputs[block]),
                round ? relativeToLargest : relativeToLargestInDouble)
          << "block " << block << (round ? ", f32" : ", not rounded");
  }
}

/// The model with `use_parallel_residual` false.
std::string writeSerialModel(const TempFolder& temporary) {
  auto file = frontends::GgufFile::open(modelFile);
  EXPECT_THAT(file, IsOk());
  std::string path = temporary.path("serial.gguf");
  auto writer = frontends::GgufWriter::create(path);
  EXPECT_THAT(writer, IsOk());
  for (const frontends::GgufMetadata& entry : (*file)->metadata())
    if (entry.key == "gptneox.use_parallel_residual")
      (*writer)->addBool(entry.key, false);
    else
      (*writer)->addValue(entry.key, entry.value);
  for (const frontends::GgufTensor& tensor : (*file)->tensors())
    EXPECT_THAT((*writer)->addTensor(tensor.name, tensor.shape(), *tensor.encoding), IsOk());
  for (const frontends::GgufTensor& tensor : (*file)->tensors())
    EXPECT_THAT((*writer)->append((*file)->data(tensor)), IsOk());
  EXPECT_THAT((*writer)->finish(), IsOk());
  return path;
}

TEST_F(TinyNeoxTest, TheSerialFormIsAnotherModel) {
  Reference reference = readReference();
  TempFolder temporary;
  ReferenceModel model(writeSerialModel(temporary));
  std::vector<std::vector<double>> found = blockOutputsOf(model, reference.ids);
  for (int block = 0; block < blocks; ++block)
    EXPECT_GE(relativeError(found[block], reference.blockOutputs[block]), 10 * relativeToLargest)
        << "block " << block;
}

/// (mlp + attention) + x becomes mlp + (attention + x).
void reassociateResiduals(mlir::ModuleOp module) {
  int changed = 0;
  module.walk([&](AddOp residual) {
    auto name = llvm::cast<mlir::NameLoc>(residual.getLoc()).getName();
    auto sum = residual.getLhs().getDefiningOp<AddOp>();
    if (!sum || !name.strref().ends_with(".residual"))
      return;
    mlir::Value mlp = sum.getLhs(), attention = sum.getRhs(), x = residual.getRhs();
    sum->setOperands({attention, x});
    residual->setOperands({mlp, sum});
    ++changed;
  });
  EXPECT_EQ(changed, 3 * blocks); // three functions
}

TEST_F(TinyNeoxTest, TheOrderOfTheResidualShowsAt16Bits) {
  std::vector<int32_t> ids = readReference().ids;
  for (auto type : {frontends::ActivationType::F16, frontends::ActivationType::BF16}) {
    ReferenceModel ours(modelFile, /*round=*/true, type);
    ReferenceModel other(modelFile, /*round=*/true, type, reassociateResiduals);
    ReferenceModel again(modelFile, /*round=*/true, type);
    std::vector<std::vector<double>> expected = blockOutputsOf(ours, ids);
    EXPECT_NE(blockOutputsOf(other, ids), expected);
    EXPECT_EQ(blockOutputsOf(again, ids), expected);
  }
}

} // namespace
} // namespace tenon::tests
