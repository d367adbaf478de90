#include "tools/cli/ModelFlags.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/encoding/BlockFormat.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/FieldsFlag.h"
#include "tools/cli/PointsFlag.h"
#include "tools/cli/Progress.h"

namespace tenon::tools {

/// The encodings that weights of a file may have.
static std::vector<std::string> weightTypes() {
  std::vector<std::string> names = {"f32", "f16", "bf16"};
  for (const BlockFormat* format : allBlockFormats())
    names.emplace_back(format->encoding);
  return names;
}

/// One of them, perhaps with the order of columns behind it.
static CLI::Validator someWeightType() {
  CLI::Validator named = oneOf(weightTypes());
  auto check = [named](std::string& text) {
    bool isOrdered = text.ends_with(actOrderSuffix);
    return named(text.substr(0, text.size() - (isOrdered ? actOrderSuffix.size() : 0)));
  };
  return CLI::Validator(check, "");
}

/// Adds `--cache`: how the caches are laid out.
static void addCacheFlag(CLI::App& command, ModelOptions& options, FlagRules& rules) {
  CLI::Option* cache = addFieldsFlag(
      command, "--cache",
      {textField("", options.cache, oneOf({"f32", "f16", "bf16", "q8", "fp8", "q4"})),
       integerField("sequences", options.sequences, integerFrom(1)),
       integerField("window", options.window, integerFrom(1)),
       integerField("sinks", options.keptTokens, integerFrom(1)),
       integerField("page", options.page, oneOf({"16", "32", "64", "128"})),
       integerField("pages", options.pages, integerFrom(1))},
      "What the caches hold, with commas between: f32, f16 or bf16; q8, integers of 8 bits, "
      "fp8, E4M3 numbers, or q4, integers of 4 bits of heads in a Hadamard transform, each times "
      "a scale of its head (default: the type of activations). "
      "sequences=N (default: rows of the largest decode shape). window=N streams without end: "
      "attends to the last N tokens, and keeps no others but the first sinks=N, 4 for most models. "
      "page=N lays them out in pages of 16, 32, 64 or 128 positions, which sequences share, "
      "pages=N of them (default: those of all sequences)");
  for (const char* imported : {"", "sequences", "window", "sinks"})
    rules.requireField(cache, imported, {Need::Import});
  for (const char* laidOut : {"page", "pages"})
    rules.requireField(cache, laidOut, {Need::Code});
}

void addModelOptions(CLI::App& command, ModelOptions& options, FlagRules& rules) {
  command
      .add_option("MODEL", options.path,
                  "A GGUF file, a Hugging Face folder, or a graph in textual IR (.mlir; - reads "
                  "standard input)")
      ->required();
  rules.require(
      command
          .add_option(
              "--activations", options.activations,
              "Element type between operations: f32, f16 or bf16 (default: f32 for a CPU, "
              "for a GPU the 16-bit type of the weights, f16 where they have none); q8, on "
              "a CPU: f32, but where it is faster products with block-quantised weights "
              "take their inputs in blocks of 8 bits; tf32, on a GPU: f32, but its library may "
              "round the factors of products to TF32, 10 bits")
          ->check(oneOf({"f32", "f16", "bf16", "q8", "tf32"})),
      {Need::Model});
  // A word among them that is no shape.
  auto setShapes = [&options](std::vector<std::string> words) {
    options.blockOutputs = std::erase(words, "block-outputs") > 0;
    if (!words.empty())
      options.shapes = std::move(words);
  };
  rules.require(command
                    .add_option_function<std::vector<std::string>>(
                        "--shapes", setShapes,
                        "Entry shapes to compile: decode:ROWS, each row its own sequence, "
                        "prefill:ROWS, a chunk of one prompt, and mixed:ROWS, chunks of "
                        "several sequences together, as many as decode or "
                        "--cache=sequences has (default: "
                        "decode:1,prefill:32, for a GPU also prefill:128,prefill:512,"
                        "prefill:2048 as far as the context goes). block-outputs among "
                        "them adds every block's hidden state to the results")
                    ->delimiter(',')
                    ->allow_extra_args(false),
                {Need::Import});
  rules.require(
      command
          .add_option("-c,--context", options.contextLength,
                      "Positions that the caches hold (default: the model's, at most 4096)")
          ->check(integerFrom(1)),
      {Need::Import});
  addCacheFlag(command, options, rules);
  rules.require(command
                    .add_option("--ignore-key", options.ignoredKeys,
                                "A metadata key of the model to pass over, although Tenon does not "
                                "honour it and it may change what the model computes")
                    ->allow_extra_args(false),
                {Need::Import});
  rules.require(command
                    .add_option("--random-weights", options.randomSeed,
                                "Seed of random weights, made when the model is loaded. MODEL may "
                                "then be a SHAPE as random-model has it, and needs no file")
                    ->check(anySeed()),
                {Need::Code});
  rules.require(
      command
          .add_option("--type", options.weightType,
                      "Their type where MODEL is a shape: f32, f16, bf16 or a block format; with "
                      ",act_order behind it the columns of layers have another order than inputs, "
                      "as GPTQ may leave them")
          ->check(someWeightType())
          ->capture_default_str(),
      {Need::NamedShape});
}

void addTargetOption(CLI::App& command, ModelOptions& options, FlagRules& rules,
                     const std::string& use) {
  rules.require(command
                    .add_option("--target", options.target,
                                absl::StrFormat(
                                    "The target to %s (see `devices`), or a file .target. native: "
                                    "this machine's GPU where it has one, else its CPU; cpu and "
                                    "cuda: the one or the other",
                                    use))
                    ->capture_default_str(),
                {Need::Code});
}

void addDeviceOption(CLI::App& command, ModelOptions& options, std::vector<std::string> devices) {
  std::string text = absl::StrJoin(devices, ", ") +
                     ". auto: what the program or the target is for, else a GPU where there is one";
  command.add_option("--device", options.device, text)
      ->check(oneOf(std::move(devices)))
      ->capture_default_str();
}

absl::StatusOr<LoadedModel> loadModel(const ModelOptions& options, FlagRules rules) {
  TENON_ASSIGN_OR_RETURN(LoadedModel model, loadModel(options));
  const Phase phase = passes::getPhase(*model.module);
  if (phase >= Phase::Fused)
    rules.deny(Need::Fusion, absl::StrFormat("%s is IR of the phase %s", options.path,
                                             stringifyPhase(phase).str()));
  if (options.device == interpreterDevice)
    for (Need need : {Need::Code, Need::Fusion})
      rules.deny(need, "--device=reference interprets the IR");
  if (!model.shape)
    rules.deny(Need::NamedShape, options.path + " is a file");
  if (model.isText)
    rules.deny(Need::Import, options.path + " is textual IR");
  if (model.target.getDevice() != DeviceKind::Cuda)
    rules.deny(Need::Gpu, "the target is " + model.target.getName().str());
  TENON_RETURN_IF_ERROR(rules.check());
  return model;
}

std::string describeChoice(TargetAttr target) {
  std::string name = "target " + target.getName().str();
  absl::StatusOr<std::string> device = describeDevice(target);
  return device.ok() ? *device + ", " + name : name;
}

absl::StatusOr<runtime::Program> compileWithProgress(const LoadedModel& model,
                                                     const ModelOptions& options,
                                                     const passes::FusionOptions& fusion,
                                                     bool stamps) {
  Progress progress("compiling " + options.path);
  progress.showSeconds();
  return compileModel(model, options, fusion, stamps);
}

} // namespace tenon::tools
