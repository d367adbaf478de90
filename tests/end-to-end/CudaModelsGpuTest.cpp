// Whole models on a GPU in f32: tiny random models of each family against Hugging Face's own code
// (tests/goldens) at every block, encoders by their vectors, trained models and a GPTQ checkpoint
// against their references, every block format with random weights against the interpreter.
#include <cmath>
#include <cstring>

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/Devices.h"
#include "runtime/text/Generator.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/FamilyGolden.h"
#include "tests/common/TempFolder.h"
#include "tests/end-to-end/Models.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/RandomModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"
#include "tools/run/Embed.h"

namespace tenon::tests {
namespace {

/// Compiles for the H200. A model without a tokeniser may not say that it is one for text.
absl::StatusOr<std::unique_ptr<runtime::Executor>>
loadOnGpu(const tools::ModelOptions& options, bool hasTokenizer,
          const passes::FusionOptions& fusion = {}) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module,
                         tools::readModel(*context, options, DeviceKind::Cuda));
  if (!hasTokenizer) {
    (*module)->removeAttr(TenonDialect::modelAttrName);
    for (auto function : module->getOps<mlir::func::FuncOp>())
      function->removeAttr(TenonDialect::entryAttrName);
  }
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "h200"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target, fusion));
  return runtime::CudaExecutor::create(std::move(program), {});
}

/// Asked before anything is compiled.
bool hasGpu() {
  auto devices = runtime::listCudaDevices();
  EXPECT_THAT(devices, IsOk());
  return devices.ok() && !devices->empty();
}

/// The `count` ids that follow `ids`, each the largest logit's, chosen on the host.
std::vector<int32_t> followGreedily(runtime::Executor& executor, std::vector<int32_t> ids,
                                    size_t count) {
  std::vector<int32_t> found;
  for (size_t position = 0; found.size() < count; ++position) {
    Outputs row = runRows(executor, 0, {ids[position]}, static_cast<int32_t>(position)).value();
    if (position + 1 < ids.size())
      continue;
    auto best = std::ranges::max_element(row[0]) - row[0].begin();
    found.push_back(static_cast<int32_t>(best));
    ids.push_back(found.back());
  }
  return found;
}

class CudaFamilies : public testing::TestWithParam<const char*> {};

/// The first 16 tokens as one chunk, the others one by one.
TEST_P(CudaFamilies, HiddenStatesAndLogits) {
  FamilyGolden golden(GetParam());
  auto loaded = loadOnGpu({.path = golden.modelPath(),
                           .activations = "f32",
                           .shapes = {"decode:1", "prefill:16"},
                           .blockOutputs = true},
                          /*hasTokenizer=*/false);
  if (absl::IsNotFound(loaded.status()))
    GTEST_SKIP() << "no GPU: " << loaded.status();
  ASSERT_THAT(loaded, IsOk());
  runtime::Executor& gpu = **loaded;
  std::vector<std::string> names = golden.outputs();
  ASSERT_GE(names.size(), 3u);
  const std::vector<int32_t> ids = golden.ids();
  ASSERT_GE(ids.size(), 16u);

  Outputs found = runRows(gpu, 1, {ids.begin(), ids.begin() + 16}, 0).value();
  for (size_t token = 16; token < ids.size(); ++token) {
    Outputs row = runRows(gpu, 0, {ids[token]}, static_cast<int32_t>(token)).value();
    for (size_t output = 0; output < row.size(); ++output)
      found[output].insert(found[output].end(), row[output].begin(), row[output].end());
  }
  ASSERT_EQ(found.size(), names.size());
  for (size_t output = 0; output < names.size(); ++output) {
    std::vector<float> expected = golden.values(names[output]);
    // A chunk gives the logits of its last token only.
    if (output == 0)
      expected.erase(expected.begin(), expected.begin() + 15 * (expected.size() / ids.size()));
    ASSERT_EQ(found[output].size(), expected.size());
    double difference = relativeDifference(found[output], expected);
    RecordProperty(names[output], std::to_string(difference));
    EXPECT_LE(difference, relativeToLargest) << names[output];
  }
}

/// The 64 ids that follow greedily, chosen from logits on the host.
TEST_P(CudaFamilies, GreedyIds) {
  FamilyGolden golden(GetParam());
  auto loaded =
      loadOnGpu({.path = golden.modelPath(), .activations = "f32", .shapes = {"decode:1"}},
                /*hasTokenizer=*/false);
  if (absl::IsNotFound(loaded.status()))
    GTEST_SKIP() << "no GPU: " << loaded.status();
  ASSERT_THAT(loaded, IsOk());
  const std::vector<int32_t> expected = golden.ids("greedy");
  EXPECT_EQ(followGreedily(**loaded, golden.ids(), expected.size()), expected);
}

INSTANTIATE_TEST_SUITE_P(All, CudaFamilies, testing::ValuesIn(goldenFamilies),
                         [](const auto& info) { return std::string(info.param); });

class CudaBlockFormats : public testing::TestWithParam<const char*> {};

/// A llama of two narrow layers with weights of one block format, against the interpreter in every
/// block: a chunk of three tokens, then two more one by one and three in one call of decode, one kernel
/// an operation and fused.
TEST_P(CudaBlockFormats, EqualsTheInterpreterInEveryBlock) {
  if (!hasGpu())
    GTEST_SKIP() << "no CUDA device on this machine";
  TempFolder folder;
  tools::ModelShape shape = tools::findModelShape("llama-3.2-1b").value();
  shape.layers = 2, shape.hidden = 512, shape.ffn = 1536, shape.heads = 8, shape.kvHeads = 2;
  shape.vocabulary = 512, shape.context = 64;
  std::string path = folder.path("model.gguf");
  ASSERT_THAT(tools::writeRandomModel(shape, *findEncoding(GetParam()), 7, path), IsOk());
  tools::ModelOptions options{.path = path,
                              .activations = "f32",
                              .shapes = {"decode:1", "prefill:3", "decode:3"},
                              .sequences = 1,
                              .blockOutputs = true};
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(*context, options, DeviceKind::Cuda);
  ASSERT_THAT(module, IsOk());
  const std::vector<std::pair<size_t, std::vector<int32_t>>> calls = {
      {1, {1, 300, 511}}, {0, {42}}, {0, {7}}, {2, {9, 100, 400}}};
  for (passes::Plan plan : {passes::Plan::Unfused, passes::Plan::Fused}) {
    auto reference = tools::ReferenceExecutor::create(**module);
    ASSERT_THAT(reference, IsOk());
    auto gpu = loadOnGpu(options, /*hasTokenizer=*/true, {.plan = plan});
    ASSERT_THAT(gpu, IsOk());
    int32_t position = 0;
    for (const auto& [function, ids] : calls) {
      Outputs found = runRows(**gpu, function, ids, position).value();
      Outputs expected = runRows(**reference, function, ids, position).value();
      ASSERT_EQ(found.size(), 3u); // logits and two blocks
      for (size_t output = 0; output < found.size(); ++output)
        EXPECT_LE(relativeDifference(found[output], expected[output]), relativeToLargest)
            << (*gpu)->program().functions[function].outputs[output].name << " from position "
            << position << (plan == passes::Plan::Fused ? ", fused" : ", unfused");
      position += static_cast<int32_t>(ids.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RandomWeights, CudaBlockFormats,
                         testing::Values("q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q4_0", "q4_1",
                                         "q5_0", "q5_1", "q8_0", "iq4_nl"),
                         [](const auto& info) { return std::string(info.param); });

/// A trained model and its reference: logits of the first 13 positions, and the ids that follow.
struct Trained {
  const char* name;
  const char* model;
  const char* logits;
  const char* greedy;
};

std::ostream& operator<<(std::ostream& stream, const Trained& trained) {
  return stream << trained.name;
}

class CudaTrainedModels : public testing::TestWithParam<Trained> {};

std::string dataPath(const std::string& name) { return std::string(TENON_TEST_DATA) + "/" + name; }

TEST_P(CudaTrainedModels, LogitsAreThoseOfTheReference) {
  auto loaded = loadOnGpu({.path = dataPath(GetParam().model), .activations = "f32"},
                          /*hasTokenizer=*/true);
  if (absl::IsNotFound(loaded.status()))
    GTEST_SKIP() << "no GPU: " << loaded.status();
  ASSERT_THAT(loaded, IsOk());
  std::string bytes = readFile(dataPath(GetParam().logits));
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());
  auto run = nlohmann::json::parse(readFile(dataPath(GetParam().greedy)))["runs"][0];
  auto ids = run["prompt_ids"].get<std::vector<int32_t>>();
  auto greedy = run["greedy_ids"].get<std::vector<int32_t>>();
  ids.insert(ids.end(), greedy.begin(), greedy.begin() + 8);

  auto generator = runtime::Generator::create(**loaded).value();
  std::vector<float> found = generator.computeLogits(ids).value();
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LE(relativeDifference(found, expected), relativeToLargest);
}

/// Tokens that the device chooses by itself are those chosen on the host, after one prompt and
/// after another, whatever was under way before; over pages, too.
TEST_P(CudaTrainedModels, TokensChosenOnTheDevice) {
  auto onHost = loadOnGpu({.path = dataPath(GetParam().model), .activations = "f32"}, true);
  if (absl::IsNotFound(onHost.status()))
    GTEST_SKIP() << "no GPU: " << onHost.status();
  ASSERT_THAT(onHost, IsOk());
  auto host = runtime::Generator::create(**onHost).value();
  runtime::Sampler greedy = runtime::Sampler::create({}).value();
  for (int64_t page : {0, 16}) {
    SCOPED_TRACE(page);
    auto onDevice = loadOnGpu(
        {.path = dataPath(GetParam().model), .activations = "f32", .page = page, .nextIds = true},
        true);
    ASSERT_THAT(onDevice, IsOk());
    auto device = runtime::Generator::create(**onDevice).value();
    for (const std::vector<int32_t>& prompt : {std::vector<int32_t>{1, 403, 407}, {1, 9}}) {
      int calls = 0;
      auto stopEarly = [&](int32_t) { return ++calls < 7; };
      EXPECT_EQ(device.generate(prompt, 40, greedy, stopEarly)->ids.size(), 7u);
      EXPECT_EQ(device.generate(prompt, 40, greedy)->ids, host.generate(prompt, 40, greedy)->ids);
    }
  }
}

/// A tiny model whose head guesses the token after the next, and what float64 finds
/// (tests/goldens/make_mimo.py).
class CudaDrafts : public testing::Test {
protected:
  CudaDrafts() : expected(nlohmann::json::parse(readFile(dataPath("mimo/expected.json")))) {}

  std::vector<int32_t> ids() const { return expected["ids"].get<std::vector<int32_t>>(); }

  /// What is generated with `drafter`, which may be null, on functions of those rows of decode.
  void generate(std::vector<std::string> shapes, bool draftIds, runtime::Drafter* drafter) {
    shapes.insert(shapes.end(), {"decode:1", "prefill:8"});
    auto loaded = loadOnGpu({.path = dataPath("mimo"),
                             .activations = "f32",
                             .shapes = std::move(shapes),
                             .sequences = 1,
                             .nextIds = true,
                             .acceptedIds = true,
                             .draftIds = draftIds},
                            /*hasTokenizer=*/true);
    if (absl::IsNotFound(loaded.status()))
      GTEST_SKIP() << "no GPU: " << loaded.status();
    ASSERT_THAT(loaded, IsOk());
    auto generator = runtime::Generator::create(**loaded).value();
    auto generated = generator.generate(expected["prompt"].get<std::vector<int32_t>>(),
                                        static_cast<int64_t>(ids().size()),
                                        runtime::Sampler::create({}).value(), {}, drafter);
    ASSERT_THAT(generated, IsOk());
    result = *std::move(generated);
  }

  nlohmann::json expected;
  runtime::Generation result;
};

TEST_F(CudaDrafts, Without) {
  ASSERT_NO_FATAL_FAILURE(generate({}, false, nullptr));
  if (!IsSkipped())
    EXPECT_EQ(result.ids, ids());
}

/// Choices, guesses and acceptance stay on the device, which is steps ahead.
TEST_F(CudaDrafts, ByTheHeadOnTheDevice) {
  runtime::HeadDrafter drafter;
  ASSERT_NO_FATAL_FAILURE(generate({"decode:2"}, true, &drafter));
  if (IsSkipped())
    return;
  EXPECT_EQ(result.ids, ids());
  EXPECT_EQ(result.draftedTokens, expected["drafted"].get<int64_t>());
  EXPECT_EQ(result.acceptedTokens, expected["accepted"].get<int64_t>());
}

/// Decode of three rows is no step of its own: the host feeds what the device has accepted and guessed.
TEST_F(CudaDrafts, ByTheHeadCallByCall) {
  runtime::HeadDrafter drafter;
  ASSERT_NO_FATAL_FAILURE(generate({"decode:3"}, true, &drafter));
  if (IsSkipped())
    return;
  EXPECT_EQ(result.ids, ids());
  EXPECT_EQ(result.draftedTokens, expected["drafted"].get<int64_t>());
  EXPECT_EQ(result.acceptedTokens, expected["accepted"].get<int64_t>());
}

/// Guesses from repetitions, of which the device says which are right.
TEST_F(CudaDrafts, ByRepetitions) {
  runtime::NgramDrafter drafter(3);
  ASSERT_NO_FATAL_FAILURE(generate({"decode:4"}, false, &drafter));
  if (IsSkipped())
    return;
  EXPECT_EQ(result.ids, ids());
  EXPECT_GT(result.acceptedTokens, 0);
}

/// A GPTQ checkpoint as a Hugging Face folder has it; ids computed in float64 from its codes.
TEST(CudaGptq, IdsOfStories) {
  auto loaded = loadOnGpu(
      {.path = dataPath("stories260K/gptq4-g32"), .activations = "f32", .shapes = {"decode:1"}},
      /*hasTokenizer=*/false);
  if (absl::IsNotFound(loaded.status()))
    GTEST_SKIP() << "no GPU: " << loaded.status();
  ASSERT_THAT(loaded, IsOk());
  auto run = nlohmann::json::parse(readFile(dataPath("stories260K/stories260K-gptq4-g32.json")));
  auto prompt = run["prompt_ids"].get<std::vector<int32_t>>();
  auto expected = run["greedy_ids"].get<std::vector<int32_t>>();
  EXPECT_EQ(followGreedily(**loaded, prompt, expected.size()), expected);
}

class CudaEncoders : public testing::TestWithParam<const char*> {};

/// The vector of a text, of length 1.
TEST_P(CudaEncoders, Embedding) {
  FamilyGolden golden(GetParam());
  auto loaded =
      loadOnGpu({.path = golden.modelPath(), .activations = "f32", .shapes = {"prefill:16"}},
                /*hasTokenizer=*/true);
  if (absl::IsNotFound(loaded.status()))
    GTEST_SKIP() << "no GPU: " << loaded.status();
  ASSERT_THAT(loaded, IsOk());
  std::vector<float> expected = golden.values("embedding");
  float squares = 0;
  for (float value : expected)
    squares += value * value;
  for (float& value : expected)
    value /= std::sqrt(squares);
  auto found = tools::embedText(**loaded, golden.ids());
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->size(), expected.size());
  EXPECT_LE(relativeDifference(*found, expected), relativeToLargest);
}

INSTANTIATE_TEST_SUITE_P(All, CudaEncoders, testing::Values("bert", "nomic_bert"),
                         [](const auto& info) { return std::string(info.param); });

/// The ids that follow `first`, `count` of them; the first `taken` are asked for.
std::vector<int32_t> streamIds(runtime::Executor& executor, int32_t first, int64_t count,
                               int64_t taken) {
  const std::vector<int32_t> id = {first}, zero = {0};
  auto stream = executor.streamTokens(0, {id, zero, zero}, count);
  EXPECT_THAT(stream, IsOk());
  std::vector<int32_t> ids;
  for (int64_t step = 0; stream.ok() && step < taken; ++step) {
    auto next = (*stream)->next();
    EXPECT_THAT(next, IsOk());
    if (!next.ok())
      break;
    ids.push_back(next->front());
  }
  return ids;
}

/// Graphs hold four steps: streams that end with a graph, one step before and one to three after,
/// and such as are given up within one, where the device is steps ahead, give the same ids from the
/// same beginning.
TEST_P(CudaTrainedModels, StreamsOfAnyLength) {
  if (!hasGpu())
    GTEST_SKIP() << "no CUDA device on this machine";
  auto loaded =
      loadOnGpu({.path = dataPath(GetParam().model), .activations = "f32", .nextIds = true}, true);
  ASSERT_THAT(loaded, IsOk());
  constexpr int64_t longest = 23;
  std::vector<int32_t> expected = streamIds(**loaded, 1, longest, longest);
  ASSERT_EQ(expected.size(), static_cast<size_t>(longest));
  for (int64_t count : {1, 3, 4, 5, 19, 20, 21, 22})
    for (int64_t taken : {count, count / 2}) {
      std::vector<int32_t> found = streamIds(**loaded, 1, count, taken);
      EXPECT_TRUE(std::ranges::equal(found, std::span(expected).first(taken)))
          << taken << " of " << count << " steps";
      // Another beginning in between, so that nothing that is left over can stand for it.
      EXPECT_EQ(streamIds(**loaded, 9, 2, 2).size(), 2u);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaTrainedModels,
    testing::Values(Trained{"stories260K_f32", "stories260K/stories260K.gguf",
                            "stories260K/stories260K_logits_13x512.f32",
                            "stories260K/stories260K_greedy.json"},
                    Trained{"stories260K_f16", "stories260K/stories260K-f16.gguf",
                            "stories260K/stories260K-f16_logits_13x512.f32",
                            "stories260K/stories260K_greedy.json"},
                    Trained{"stories260K_q8_0", "stories260K/stories260K-q8_0.gguf",
                            "stories260K/stories260K-q8_0_logits_13x512.f32",
                            "stories260K/stories260K_greedy.json"},
                    Trained{"stories260K_q4_0", "stories260K/stories260K-q4_0.gguf",
                            "stories260K/stories260K-q4_0_logits_13x512.f32",
                            "stories260K/stories260K_greedy.json"},
                    Trained{"tiny_neox", "tiny-neox/tiny-neox-262k-f32.gguf",
                            "tiny-neox/tiny-neox-262k_logits_13x512.f32",
                            "tiny-neox/tiny-neox-262k_greedy.json"}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::tests
