#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/FieldsFlag.h"
#include "tools/cli/SpecialFlag.h"
#include "tools/run/GenerateCommand.h"

namespace tenon::tools {

/// Rows of a call that is to take little longer than one of one row.
static constexpr int64_t highestDraft = 15;

/// Adds what is continued: `-p`, `-f`, `--ids`, `--special`, `--chat`.
static void addPromptOptions(CLI::App& command, GenerateOptions& options, FlagRules& rules) {
  auto* prompt = command.add_option("-p,--prompt", options.prompt, "The text to continue");
  auto* file = command
                   .add_option("-f,--file,--inputs", options.file,
                               "The file with the text; - reads standard input, as a pipe is read "
                               "where no prompt is given. With -o a function's inputs, a NumPy "
                               ".npz archive")
                   ->excludes(prompt);
  auto* ids = command
                  .add_option("--ids", options.ids,
                              "Token ids to continue instead of a text, as 1,403,407: prints ids "
                              "and needs no tokeniser")
                  ->delimiter(',')
                  ->allow_extra_args(false)
                  ->check(integerFrom(0, std::numeric_limits<int32_t>::max()))
                  ->excludes(prompt)
                  ->excludes(file);
  auto* special = addSpecialFlag(command, options.special)->excludes(ids);
  auto* chat = command
                   .add_flag("--chat{-}", options.chat,
                             "Chat by the model's template: the prompt is a user's turn; without "
                             "one (-p, -f) each line of standard input is, up to its end (Ctrl-D). "
                             "Prints the answers alone. --chat=TEXT begins with TEXT as the "
                             "system's turn, which says how to answer")
                   ->check(someText())
                   ->excludes(ids);
  for (const CLI::Option* option : {prompt, ids, special, chat})
    rules.require(option, {Need::Text});
}

/// How many guesses, or whose.
static Field draftField(GenerateOptions& options) {
  constexpr const char* byHead = "mtp";
  auto check = [](std::string& text) {
    std::string wrong = text == byHead ? "" : integerFrom(0, highestDraft)(text);
    return wrong.empty() ? wrong
                         : absl::StrFormat("expects mtp or an integer from 0 to %d, but got '%s'",
                                           highestDraft, text);
  };
  auto set = [&options](const std::string& text) {
    options.draftsByHead = text == byHead;
    if (options.draftsByHead)
      options.draft = 1;
    else
      (void)absl::SimpleAtoi(text, &options.draft);
  };
  return {"", CLI::Validator(check, ""), set};
}

/// Adds `--draft`.
static void addDraftFlag(CLI::App& command, GenerateOptions& options, FlagRules& rules) {
  rules.require(
      addFieldsFlag(command, "--draft",
                    {draftField(options), textField("model", options.draftModel, someText())},
                    "Guess up to so many tokens from repetitions of the text and verify "
                    "them in one call of the model: the same tokens in fewer calls. "
                    "model=FILE.tnn, a compiled program of a smaller model with the same "
                    "tokens, guesses instead: --draft=4,model=small.tnn. mtp takes the "
                    "guesses of the file's own head for the token after the next")
          ->default_str("0"),
      {Need::Text});
}

/// Adds how tokens are drawn: `--temperature`, `--sampling`, `--seed`.
static void addSamplerOptions(CLI::App& command, runtime::SamplerOptions& sampler,
                              FlagRules& rules) {
  rules.require(
      command
          .add_option("--temperature,--temp", sampler.temperature,
                      "What logits are divided by before drawing; 0 takes the most likely token")
          ->check(numberFrom(0, std::numeric_limits<double>::infinity()))
          ->capture_default_str(),
      {Need::Text});
  CLI::Option* sampling = addFieldsFlag(
      command, "--sampling",
      {integerField("top-k", sampler.topK, integerFrom(0)),
       numberField("top-p", sampler.topP, numberFrom(0, 1, /*aboveLeast=*/true)),
       numberField("min-p", sampler.minP, numberFrom(0, 1)),
       numberField("repetition-penalty", sampler.repetitionPenalty,
                   numberFrom(0, std::numeric_limits<float>::max(), /*aboveLeast=*/true))},
      "What is drawn from, with commas between: top-k=N, that many most likely tokens, 0 for all; "
      "top-p=P, the most likely tokens of that probability together; min-p=P, tokens of at least "
      "that share of the likeliest one's. repetition-penalty=R divides the logits of tokens that "
      "the text holds, where they are above 0, and multiplies those below; 1 for none");
  sampling->default_str("top-k=0,top-p=1,min-p=0,repetition-penalty=1");
  rules.require(sampling, {Need::Text});
  for (const char* drawn : {"top-k", "top-p", "min-p"})
    rules.requireField(sampling, drawn, {Need::Sampling});
  rules.require(
      command.add_option("--seed", sampler.seed, "Seed of the draws: the same seed, the same text")
          ->check(anySeed())
          ->capture_default_str(),
      {Need::Text, Need::Sampling});
}

void addGenerateOptions(CLI::App& command, GenerateOptions& options, FlagRules& rules) {
  addPromptOptions(command, options, rules);
  rules.require(command
                    .add_option("--stop", options.stops,
                                "End before that text, which is not printed; may be given several "
                                "times")
                    ->allow_extra_args(false)
                    ->check(someText())
                    ->excludes(command.get_option("--ids")),
                {Need::Text});
  rules.require(command.add_option("-n,--tokens", options.count, "New tokens at most")
                    ->check(integerFrom(0))
                    ->capture_default_str(),
                {Need::Text});
  addDraftFlag(command, options, rules);
  addSamplerOptions(command, options.sampler, rules);
  addThreadsOption(command, options.threads);
  addJsonFlag(
      command, options.json,
      "one object: prompt_ids, ids, text (not with --ids), stop, load_ns, prompt_ns, token_ns");
}

void denyUnusedSampling(const GenerateOptions& options, FlagRules& rules) {
  if (options.sampler.temperature == 0)
    rules.deny(Need::Sampling, "at temperature 0 the most likely token is taken");
}

} // namespace tenon::tools
