// Whole models on the CPU: against the reference logits of trained models, and, at real widths with
// random weights, against the interpreter in every block.

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "nlohmann/json.hpp"
#include "runtime/batching/BatchScheduler.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/program/Program.h"
#include "runtime/text/Generator.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/end-to-end/Models.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/RandomModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

/// A model on the CPU and on the interpreter.
struct Model {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<runtime::Executor> cpu;
  std::unique_ptr<runtime::Executor> reference;
};

/// Reads the model and makes both executors; the CPU's compiles for this machine.
absl::StatusOr<Model> loadModel(const tools::ModelOptions& options) {
  Model model;
  model.context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(model.module, tools::readModel(*model.context, options));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*model.context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*model.module, target));
  TENON_ASSIGN_OR_RETURN(model.cpu, runtime::CpuExecutor::create(std::move(program), {}));
  TENON_ASSIGN_OR_RETURN(model.reference, tools::ReferenceExecutor::create(*model.module));
  return model;
}

std::string dataPath(const std::string& name) { return std::string(TENON_TEST_DATA) + "/" + name; }

/// A trained model and the files with its reference.
struct Golden {
  const char* name;
  const char* model;
  const char* logits; ///< of the first 13 positions
  const char* greedy; ///< JSON with the prompt and the ids that follow
};

class GoldenLogits : public testing::TestWithParam<Golden> {};

/// The 13 ids whose logits the reference holds: those of the first prompt, then the greedy ones.
std::vector<int32_t> referenceIds(const std::string& path) {
  auto run = nlohmann::json::parse(readFile(path))["runs"][0];
  auto ids = run["prompt_ids"].get<std::vector<int32_t>>();
  auto greedy = run["greedy_ids"].get<std::vector<int32_t>>();
  ids.insert(ids.end(), greedy.begin(), greedy.begin() + 8);
  return ids;
}

TEST_P(GoldenLogits, AreThoseOfTheReference) {
  Model model = loadModel({.path = dataPath(GetParam().model)}).value();
  std::string bytes = readFile(dataPath(GetParam().logits));
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());
  std::vector<int32_t> ids = referenceIds(dataPath(GetParam().greedy));

  auto generator = runtime::Generator::create(*model.cpu).value();
  std::vector<float> found = generator.computeLogits(ids).value();
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LE(relativeDifference(found, expected), relativeToLargest);
}

/// Rows of decode may be tokens of one sequence: what they give is what the same tokens give one by one,
/// to the bit, under every plan.
TEST(RowsOfOneSequence, GiveWhatTheyGiveOneByOne) {
  const std::vector<int32_t> prompt = {1, 403, 407, 261}, more = {378, 300, 45, 7, 90};
  for (const char* name :
       {"stories260K/stories260K-q8_0.gguf", "tiny-neox/tiny-neox-262k-f32.gguf"})
    for (passes::Plan plan : {passes::Plan::Unfused, passes::Plan::Fused, passes::Plan::Auto}) {
      SCOPED_TRACE(name);
      std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
      auto module = tools::readModel(*context, {.path = dataPath(name),
                                                .shapes = {"decode:1", "prefill:4", "decode:5"},
                                                .sequences = 1});
      ASSERT_THAT(module, IsOk());
      TargetAttr target = tools::chooseTarget(*context, "cpu").value();
      auto program = tools::compileModel(**module, target, {.plan = plan});
      ASSERT_THAT(program, IsOk());
      auto cpu = runtime::CpuExecutor::create(*std::move(program), {}).value();
      ASSERT_THAT(runRows(*cpu, 1, prompt, 0), IsOk());
      Outputs together = runRows(*cpu, 2, more, 4).value();
      ASSERT_THAT(cpu->resetStates(), IsOk());
      ASSERT_THAT(runRows(*cpu, 1, prompt, 0), IsOk());
      std::vector<float> alone;
      for (size_t i = 0; i < more.size(); ++i) {
        Outputs row = runRows(*cpu, 0, {more[i]}, static_cast<int32_t>(4 + i)).value();
        alone.insert(alone.end(), row[0].begin(), row[0].end());
      }
      EXPECT_EQ(together[0], alone);
    }
}

/// A trained model with functions of several rows: what it says does not depend on whom it answers to
/// at the same time, nor on what its caches held before.
TEST(BatchedRequests, AreAnsweredAsIfEachWereAlone) {
  Model model =
      loadModel({.path = dataPath("stories260K/stories260K.gguf"),
                 .shapes = {"decode:1", "decode:2", "decode:4", "prefill:8", "prefill:32"},
                 .sequences = 5})
          .value();
  auto runs =
      nlohmann::json::parse(readFile(dataPath("stories260K/stories260K_greedy.json")))["runs"];
  std::vector<std::vector<int32_t>> prompts, answers;
  for (int32_t first : {1, 403, 261, 7, 90, 300, 45, 12})
    for (size_t length : {3, 9, 33}) {
      auto prompt = runs[0]["greedy_ids"].get<std::vector<int32_t>>();
      prompt.resize(length);
      prompt[1] = first;
      prompts.push_back(prompt);
    }
  for (double temperature : {0.0, 0.8}) {
    answers.clear();
    runtime::SamplerOptions sampling = {.temperature = static_cast<float>(temperature), .seed = 5};
    auto generator = runtime::Generator::create(*model.cpu).value();
    auto sampler = runtime::Sampler::create(sampling).value();
    for (const std::vector<int32_t>& prompt : prompts)
      answers.push_back(generator.generate(prompt, 25, sampler).value().ids);
    auto scheduler = runtime::BatchScheduler::create(*model.cpu).value();
    std::vector<std::vector<int32_t>> found(prompts.size());
    for (size_t i = 0; i < prompts.size(); ++i)
      ASSERT_THAT(scheduler->submit({.prompt = prompts[i],
                                     .maxTokens = 25,
                                     .sampling = sampling,
                                     .onEnd =
                                         [&, i](runtime::RequestResult result) {
                                           EXPECT_THAT(result.status, IsOk());
                                           found[i] = std::move(result.ids);
                                         }}),
                  IsOk());
    while (scheduler->step().value()) {
    }
    EXPECT_EQ(found, answers) << "temperature " << temperature;
    EXPECT_GT(scheduler->statistics().reusedTokens, 0);
    EXPECT_GT(scheduler->statistics().decodeTokens, 2 * scheduler->statistics().decodeCalls);
  }
}

INSTANTIATE_TEST_SUITE_P(
    TrainedModels, GoldenLogits,
    testing::Values(Golden{"stories260K_f32", "stories260K/stories260K.gguf",
                           "stories260K/stories260K_logits_13x512.f32",
                           "stories260K/stories260K_greedy.json"},
                    Golden{"stories260K_f16", "stories260K/stories260K-f16.gguf",
                           "stories260K/stories260K-f16_logits_13x512.f32",
                           "stories260K/stories260K_greedy.json"},
                    Golden{"stories260K_q8_0", "stories260K/stories260K-q8_0.gguf",
                           "stories260K/stories260K-q8_0_logits_13x512.f32",
                           "stories260K/stories260K_greedy.json"},
                    Golden{"stories260K_q4_0", "stories260K/stories260K-q4_0.gguf",
                           "stories260K/stories260K-q4_0_logits_13x512.f32",
                           "stories260K/stories260K_greedy.json"},
                    Golden{"tiny_neox", "tiny-neox/tiny-neox-262k-f32.gguf",
                           "tiny-neox/tiny-neox-262k_logits_13x512.f32",
                           "tiny-neox/tiny-neox-262k_greedy.json"}),
    [](const auto& info) { return std::string(info.param.name); });

/// A shape at its real width, cut to two layers.
struct Wide {
  const char* shape;
  const char* encoding;
};

class WideModel : public testing::TestWithParam<Wide> {};

TEST_P(WideModel, EqualsTheInterpreterInEveryBlock) {
  TempFolder folder;
  tools::ModelShape shape = tools::findModelShape(GetParam().shape).value();
  shape.layers = 2, shape.hidden = 2048, shape.vocabulary = 512, shape.context = 64;
  std::string path = folder.path("model.gguf");
  ASSERT_THAT(tools::writeRandomModel(shape, *findEncoding(GetParam().encoding), 7, path), IsOk());
  Model model =
      loadModel({.path = path, .shapes = {"decode:1", "prefill:3"}, .blockOutputs = true}).value();

  // A chunk of three tokens, then two more one by one.
  const std::vector<std::vector<int32_t>> calls = {{1, 300, 511}, {42}, {7}};
  int32_t position = 0;
  for (const std::vector<int32_t>& ids : calls) {
    size_t function = ids.size() == 1 ? 0 : 1;
    Outputs found = runRows(*model.cpu, function, ids, position).value();
    Outputs expected = runRows(*model.reference, function, ids, position).value();
    ASSERT_EQ(found.size(), 3u); // logits and two blocks
    for (size_t output = 0; output < found.size(); ++output)
      EXPECT_LE(relativeDifference(found[output], expected[output]), relativeToLargest)
          << model.cpu->program().functions[function].outputs[output].name << " from position "
          << position;
    position += static_cast<int32_t>(ids.size());
  }
}

INSTANTIATE_TEST_SUITE_P(RandomWeights, WideModel,
                         testing::Values(Wide{"llama-3.2-1b", "f32"}, Wide{"llama-3.2-1b", "f16"},
                                         Wide{"llama-3.2-1b", "bf16"}, Wide{"llama-3.2-1b", "q8_0"},
                                         Wide{"llama-3.2-1b", "q4_0"}, Wide{"pythia-2.8b", "f16"},
                                         Wide{"pythia-2.8b", "q8_0"}),
                         [](const auto& info) {
                           std::string name =
                               std::string(info.param.shape) + "_" + info.param.encoding;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

} // namespace
} // namespace tenon::tests
