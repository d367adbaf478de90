// Tiny random encoders against Hugging Face's own code (tests/goldens/make_encoder_goldens.py).
#include "frontends/models/Frontend.h"
#include "frontends/models/ImportModel.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/Tolerances.h"
#include "tests/common/FamilyGolden.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

using namespace frontends;

constexpr int64_t rows = 16;

/// The embedding of the tokens and what is after each block, in the order of the function's
/// results. What rows after the text hold does not matter.
Results encode(const std::string& path, const std::vector<int32_t>& ids, int32_t padding) {
  auto source = openModel(path);
  EXPECT_THAT(source, IsOk());
  mlir::MLIRContext context;
  auto module =
      importModel(context, **source,
                  {.entries = {{Role::Decode, 1}, {Role::Prefill, rows}}, .blockOutputs = true});
  EXPECT_THAT(module, IsOk());
  if (!module.ok())
    return {};
  EXPECT_FALSE((**module).lookupSymbol("decode_1"));
  auto type = (**module).lookupSymbol<mlir::func::FuncOp>("encode_16").getFunctionType();
  std::vector<ReferenceTensor> arguments;
  for (mlir::Type input : type.getInputs())
    arguments.emplace_back(llvm::cast<mlir::RankedTensorType>(input));
  for (size_t i = 0; i < rows; ++i) {
    arguments[0].getValues()[i] = i < ids.size() ? ids[i] : padding;
    arguments[1].getValues()[i] = i < ids.size() ? 1 : 0;
  }
  auto interpreter = Interpreter::create(**module, {});
  EXPECT_THAT(interpreter, IsOk());
  auto tensors = (*interpreter)->run("encode_16", arguments);
  EXPECT_THAT(tensors, IsOk());
  Results results;
  for (const ReferenceTensor& tensor : *tensors)
    results.push_back(tensor.toVector());
  return results;
}

class Encoders : public ::testing::TestWithParam<const char*> {};

TEST_P(Encoders, HiddenStatesAndEmbedding) {
  FamilyGolden golden(GetParam());
  const std::vector<int32_t> ids = golden.ids();
  ASSERT_EQ(ids.size(), 11u);
  for (const std::string& path :
       {golden.modelPath(), TENON_TEST_BUILD "/hf/" + std::string(GetParam())}) {
    Results found = encode(path, ids, 0);
    ASSERT_EQ(found.size(), 3u);
    for (const char* output : {"embedding", "blk.0.output", "blk.1.output"}) {
      std::vector<float> expected = golden.values(output);
      std::vector<double>& result =
          found[std::string(output) == "embedding" ? 0 : output[4] - '0' + 1];
      ASSERT_GE(result.size(), expected.size());
      result.resize(expected.size()); // rows after the text
      EXPECT_LE(relativeError(result, {expected.begin(), expected.end()}), relativeToLargest)
          << path << ": " << output;
    }
    EXPECT_EQ(encode(path, ids, 7).front(), encode(path, ids, 0).front());
  }
}

/// The same bits from both forms.
TEST_P(Encoders, FoldersAreTheFiles) {
  FamilyGolden golden(GetParam());
  EXPECT_EQ(encode(TENON_TEST_BUILD "/hf/" + std::string(GetParam()), golden.ids(), 0),
            encode(golden.modelPath(), golden.ids(), 0));
}

INSTANTIATE_TEST_SUITE_P(All, Encoders, ::testing::Values("bert", "nomic_bert"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::tests
