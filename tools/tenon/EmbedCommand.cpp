#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontends/models/Frontend.h"
#include "nlohmann/json.hpp"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/FileKind.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/driver/ReferenceExecutor.h"
#include "tools/driver/UsageError.h"
#include "tools/run/Embed.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  std::vector<std::string> texts;
  PlanFlags plan;
  int threads = 0;
  JsonFlag json;
};

/// The tokens of each text; sets the shapes that they take, where none are asked for.
absl::StatusOr<std::vector<std::vector<int32_t>>> tokenizeTexts(Options& options) {
  TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.model.path));
  if (kind != FileKind::Model)
    return usageError(options.model.path +
                      ": expects a GGUF file or a Hugging Face folder of an encoder");
  TENON_ASSIGN_OR_RETURN(auto source, frontends::openModel(options.model.path));
  TENON_ASSIGN_OR_RETURN(runtime::TokenizerSpec spec, source->tokenizer());
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(std::move(spec)));
  std::vector<std::vector<int32_t>> texts;
  for (const std::string& text : options.texts) {
    TENON_ASSIGN_OR_RETURN(texts.emplace_back(), tokenizer->encode(text));
    if (texts.back().empty())
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: expects texts with a token at least, but got none in text %u",
                          options.model.path, texts.size()));
  }
  TENON_ASSIGN_OR_RETURN(int64_t context, source->count("context_length", int64_t(1) << 28));
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> shapes, shapesOfTexts(texts, context));
  if (options.model.shapes.empty())
    options.model.shapes = std::move(shapes);
  return texts;
}

/// Of `input`, which must outlive it.
absl::StatusOr<std::unique_ptr<runtime::Executor>> makeEncoder(const LoadedModel& input,
                                                               const Options& options) {
  if (input.hasModel())
    return usageError(options.model.path +
                      ": expects an encoder (bert, nomic-bert), but got a model that goes on with "
                      "texts; `run` does that");
  if (options.model.device == interpreterDevice)
    return ReferenceExecutor::create(*input.module);
  if (options.model.device == "auto")
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, plan.fusion));
  ExecutorOptions executor{.threads = options.threads};
  executor.setLaunch(options.plan.launch);
  return makeExecutor(std::move(program), executor);
}

absl::Status embed(Options options) {
  TENON_ASSIGN_OR_RETURN(std::vector<std::vector<int32_t>> texts, tokenizeTexts(options));
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Executor> executor, makeEncoder(input, options));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::vector<int32_t>& text : texts) {
    TENON_ASSIGN_OR_RETURN(std::vector<float> vector, embedText(*executor, text));
    if (!options.json.replacesText())
      std::cout << absl::StrJoin(vector, " ", [](std::string* out, float number) {
        absl::StrAppendFormat(out, "%.9g", number);
      }) << "\n";
    list.push_back({{"tokens", text.size()}, {"embedding", vector}});
  }
  return writeJson(options.json, list, onOneLine);
}

} // namespace

void addEmbedCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "embed", "Vectors of texts, of length 1, by an encoder (bert, nomic-bert)");
  command->footer("tenon embed bge-small.gguf 'A text' 'Another one' --json\n"
                  "A line a text. What stands before a text for some models (search_query: ) is "
                  "part of it.");
  addModelOptions(*command, options->model, options->rules);
  command->add_option("TEXT", options->texts, "The texts")->required();
  addDeviceOption(*command, options->model, {"auto", "cpu", "cuda", "reference"});
  addTargetOption(*command, options->model, options->rules, "compile for");
  addPlanFlags(*command, options->plan, options->rules);
  addThreadsOption(*command, options->threads);
  addJsonFlag(*command, options->json, "an array of one object a text: tokens, embedding");
  command->callback([options, &action] { action = [options] { return embed(*options); }; });
}

} // namespace tenon::tools
