#include "tools/run/GenerateCommand.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <numeric>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "runtime/program/ModelPorts.h"
#include "runtime/program/Program.h"
#include "runtime/program/ProgramFile.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Generator.h"
#include "runtime/text/ModelDrafter.h"
#include "runtime/text/StopTexts.h"
#include "runtime/text/StreamingDetokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/driver/MakeExecutor.h"

namespace tenon::tools {

using runtime::Generation;
using runtime::StreamingDetokenizer;

/// True where standard input is a pipe.
static bool hasPipe() {
  struct stat info;
  return ::fstat(STDIN_FILENO, &info) == 0 && S_ISFIFO(info.st_mode);
}

static absl::StatusOr<std::string> readPrompt(const GenerateOptions& options) {
  if (options.prompt)
    return *options.prompt;
  if (options.file.empty() && !hasPipe())
    return "";
  TENON_ASSIGN_OR_RETURN(std::string text, readTextFile(options.file.empty() ? "-" : options.file));
  if (text.ends_with('\n'))
    text.pop_back();
  return text;
}

/// `1 token`, `5 tokens`.
static std::string count(size_t number, const std::string& what) {
  return absl::StrFormat("%u %s%s", number, what, number == 1 ? "" : "s");
}

static double perSecond(size_t number, int64_t ns) {
  return 1e9 * static_cast<double>(number) / static_cast<double>(std::max<int64_t>(ns, 1));
}

static std::string describeStop(runtime::StopReason reason, int64_t context) {
  switch (reason) {
  case runtime::StopReason::TokenLimit:
    return "stopped at the token limit (-n)";
  case runtime::StopReason::EndOfSequence:
    return "stopped where the model ended the text";
  case runtime::StopReason::ContextEnd:
    return absl::StrFormat("stopped at the end of the context of %d positions", context);
  case runtime::StopReason::StopText:
    return "stopped at a text of --stop";
  case runtime::StopReason::Callback:
    break;
  }
  return "stopped by an error";
}

static std::string timesText(const Generation& generation, size_t promptTokens, int64_t loadNs) {
  std::string text =
      absl::StrFormat("loaded in %.1f ms; %s and the first new one in %.1f ms (%.1f a second)",
                      loadNs / 1e6, count(promptTokens, "prompt token"), generation.promptNs / 1e6,
                      perSecond(promptTokens, generation.promptNs));
  std::vector<int64_t> sorted = generation.tokenNs;
  if (sorted.empty())
    return text;
  std::ranges::sort(sorted);
  const int64_t totalNs = std::accumulate(sorted.begin(), sorted.end(), int64_t(0));
  text += absl::StrFormat(
      "; %s, median %.3f ms (%.1f a second)", count(sorted.size(), "further token"),
      static_cast<double>(sorted[sorted.size() / 2]) / 1e6, perSecond(sorted.size(), totalNs));
  if (generation.draftedTokens > 0)
    text += absl::StrFormat("; %d of %d guesses right", generation.acceptedTokens,
                            generation.draftedTokens);
  return text;
}

/// Checks what can be known before anything is printed.
static absl::Status checkPrompt(const std::vector<int32_t>& prompt, int64_t context) {
  if (prompt.empty())
    return absl::InvalidArgumentError(
        "the prompt is empty, and the model's tokeniser puts no token in front of it: expects a "
        "prompt (-p)");
  if (static_cast<int64_t>(prompt.size()) > context)
    return absl::InvalidArgumentError(absl::StrFormat(
        "the prompt has %u tokens, but the context holds %d: expects a shorter prompt or a larger "
        "--context",
        prompt.size(), context));
  return absl::OkStatus();
}

static absl::Status checkDraft(const GenerateOptions& options, const runtime::Program& program) {
  auto takesGuesses = [](const runtime::Function& function) {
    return function.role == runtime::Role::Decode && function.rows > 1;
  };
  auto guesses = [](const runtime::Function& function) {
    return findPort(function.outputs, runtime::PortRole::DraftIds).has_value();
  };
  if (options.draftsByHead && !options.draftModel.empty())
    return absl::InvalidArgumentError("--draft: expects mtp or a model that guesses, but got both");
  if (options.draftsByHead && std::ranges::none_of(program.functions, guesses))
    return absl::InvalidArgumentError(
        "--draft=mtp: expects a model with a head that guesses, but the program has none");
  if (options.draft == 0 || std::ranges::any_of(program.functions, takesGuesses))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("--draft=%d: expects a program with decode of several rows "
                      "(--shapes=decode:1,decode:%d), but "
                      "it has none",
                      options.draft, options.draft + 1));
}

/// What a program's tokens are printed as.
class TokenOutput {
public:
  virtual ~TokenOutput() = default;
  /// Takes a token of the prompt.
  virtual absl::Status begin(int32_t id) = 0;
  /// Takes a new token.
  virtual absl::Status push(int32_t id) = 0;
  virtual void finish() = 0;
  /// Whether a stop text came.
  virtual bool hasStopped() const { return false; }
  /// Adds what only this output knows to the JSON object.
  virtual void describe(nlohmann::ordered_json& json) const = 0;
};

/// Prints the text of tokens as it becomes complete, up to a stop text, or collects it.
class TextOutput : public TokenOutput {
public:
  /// `stream` is null where the text is only collected.
  TextOutput(const runtime::Tokenizer& tokenizer, runtime::StopTexts stops, bool showsPrompt,
             std::ostream* stream)
      : detokenizer(tokenizer), stops(std::move(stops)), showsPrompt(showsPrompt), stream(stream) {}

  absl::Status begin(int32_t id) override {
    if (!showsPrompt)
      return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(std::string piece, detokenizer.push(id));
    append(piece);
    return absl::OkStatus();
  }
  absl::Status push(int32_t id) override {
    TENON_ASSIGN_OR_RETURN(std::string piece, detokenizer.push(id));
    append(stops.push(piece));
    return absl::OkStatus();
  }
  /// All that was printed.
  const std::string& text() const { return collected; }
  void finish() override {
    append(stops.push(detokenizer.flush()));
    append(stops.flush());
  }
  bool hasStopped() const override { return stops.isFound(); }
  void describe(nlohmann::ordered_json& json) const override { json["text"] = collected; }

private:
  void append(const std::string& piece) {
    collected += piece;
    if (stream && !piece.empty())
      *stream << piece << std::flush;
  }

  StreamingDetokenizer detokenizer;
  runtime::StopTexts stops;
  bool showsPrompt;
  std::ostream* stream;
  std::string collected;
};

/// Prints the new ids, with a blank between two.
class IdOutput : public TokenOutput {
public:
  /// `stream` is null where nothing is printed.
  explicit IdOutput(std::ostream* stream) : stream(stream) {}

  absl::Status begin(int32_t) override { return absl::OkStatus(); }
  absl::Status push(int32_t id) override {
    if (stream)
      *stream << separator << id << std::flush;
    separator = " ";
    return absl::OkStatus();
  }
  void finish() override {}
  void describe(nlohmann::ordered_json&) const override {}

private:
  std::ostream* stream;
  std::string_view separator = "";
};

/// What guesses, and what runs its model.
struct Guesser {
  std::unique_ptr<runtime::Executor> executor;
  std::unique_ptr<runtime::Drafter> drafter; ///< null where nothing is guessed
};

static absl::StatusOr<Guesser> makeGuesser(const GenerateOptions& options, int64_t vocabulary) {
  Guesser guesser;
  if (options.draft == 0)
    return guesser;
  if (options.draftsByHead) {
    guesser.drafter = std::make_unique<runtime::HeadDrafter>();
    return guesser;
  }
  if (options.draftModel.empty()) {
    guesser.drafter = std::make_unique<runtime::NgramDrafter>(options.draft);
    return guesser;
  }
  if (!options.draftModel.ends_with(runtime::programSuffix))
    return absl::InvalidArgumentError(
        absl::StrFormat("--draft: model expects a compiled program, named *%s, but got %s",
                        std::string(runtime::programSuffix), options.draftModel));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(options.draftModel));
  TENON_ASSIGN_OR_RETURN(guesser.executor,
                         makeExecutor(std::move(program), {.threads = options.threads}));
  auto drafter = runtime::ModelDrafter::create(*guesser.executor, vocabulary, options.draft);
  if (!drafter.ok())
    return absl::Status(
        drafter.status().code(),
        absl::StrFormat("%s: %s", options.draftModel, std::string(drafter.status().message())));
  guesser.drafter = *std::move(drafter);
  return guesser;
}

/// Continues `prompt` and prints it by `output`.
static absl::Status generate(runtime::Executor& executor, runtime::Generator& generator,
                             const GenerateOptions& options, const std::vector<int32_t>& prompt,
                             TokenOutput& output, int64_t loadNs, std::ostream& out,
                             std::ostream& log) {
  TENON_ASSIGN_OR_RETURN(runtime::Sampler sampler, runtime::Sampler::create(options.sampler));
  int64_t context = executor.program().model->context;
  TENON_RETURN_IF_ERROR(checkPrompt(prompt, context));
  for (int32_t id : prompt)
    TENON_RETURN_IF_ERROR(output.begin(id));
  absl::Status status;
  auto onToken = [&](int32_t id) {
    status = output.push(id);
    // What goes nowhere is not worth computing.
    return status.ok() && out.good() && !output.hasStopped();
  };
  TENON_RETURN_IF_ERROR(checkDraft(options, executor.program()));
  TENON_ASSIGN_OR_RETURN(Guesser guesser,
                         makeGuesser(options, executor.program().model->vocabulary));
  TENON_ASSIGN_OR_RETURN(Generation generation, generator.generate(prompt, options.count, sampler,
                                                                   onToken, guesser.drafter.get()));
  TENON_RETURN_IF_ERROR(status);
  output.finish();
  if (output.hasStopped())
    generation.reason = runtime::StopReason::StopText;

  if (!options.json.replacesText()) {
    out << std::endl;
    log << timesText(generation, prompt.size(), loadNs) << "; "
        << describeStop(generation.reason, context) << std::endl;
  }
  nlohmann::ordered_json json = {{"prompt_ids", prompt}, {"ids", generation.ids}};
  output.describe(json);
  json["stop"] = runtime::stopReasonName(generation.reason);
  json["load_ns"] = loadNs;
  json["prompt_ns"] = generation.promptNs;
  json["token_ns"] = generation.tokenNs;
  if (options.draft > 0) {
    json["drafted"] = generation.draftedTokens;
    json["accepted"] = generation.acceptedTokens;
  }
  return writeJson(options.json, json, onOneLine);
}

/// The turns of a chat so far.
class Chat {
public:
  static absl::StatusOr<Chat> create(const runtime::Tokenizer& tokenizer,
                                     const std::string& system) {
    TENON_ASSIGN_OR_RETURN(auto chatTemplate, runtime::ChatTemplate::create(tokenizer.spec()));
    Chat chat(tokenizer, std::move(chatTemplate));
    if (!system.empty())
      chat.turns.push_back({"system", system});
    return chat;
  }

  /// The ids of all turns with another one of the user, up to where the answer begins.
  absl::StatusOr<std::vector<int32_t>> ask(std::string content) {
    turns.push_back({"user", std::move(content)});
    TENON_ASSIGN_OR_RETURN(
        const std::string text,
        chatTemplate.render(turns, /*addsPrompt=*/true, int64_t(std::time(nullptr))));
    // The template writes all special tokens itself.
    return tokenizer->encode(text, {.addSpecial = false, .parseSpecial = true});
  }
  void answer(std::string content) { turns.push_back({"assistant", std::move(content)}); }

private:
  Chat(const runtime::Tokenizer& tokenizer, runtime::ChatTemplate chatTemplate)
      : tokenizer(&tokenizer), chatTemplate(std::move(chatTemplate)) {}

  const runtime::Tokenizer* tokenizer;
  runtime::ChatTemplate chatTemplate;
  std::vector<runtime::ChatMessage> turns;
};

/// Answers each line of standard input.
static absl::Status chatInTurns(runtime::Executor& executor, runtime::Generator& generator,
                                const GenerateOptions& options, const runtime::Tokenizer& tokenizer,
                                int64_t loadNs, std::ostream& out, std::ostream& log) {
  TENON_ASSIGN_OR_RETURN(Chat chat, Chat::create(tokenizer, options.system()));
  generator.keepStates();
  const bool isTerminal = ::isatty(STDIN_FILENO) != 0;
  std::ostream* stream = options.json.replacesText() ? nullptr : &out;
  for (std::string line;;) {
    if (isTerminal)
      log << "> " << std::flush;
    if (!std::getline(std::cin, line) || !out.good())
      return absl::OkStatus();
    if (line.empty())
      continue;
    TENON_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, chat.ask(line));
    TENON_ASSIGN_OR_RETURN(runtime::StopTexts stops, runtime::StopTexts::create(options.stops));
    TextOutput output(tokenizer, std::move(stops), /*showsPrompt=*/false, stream);
    TENON_RETURN_IF_ERROR(generate(executor, generator, options, prompt, output, loadNs, out, log));
    chat.answer(output.text());
  }
}

absl::Status generateText(runtime::Executor& executor, const GenerateOptions& options,
                          int64_t loadNs, std::ostream& out, std::ostream& log) {
  std::ostream* stream = options.json.replacesText() ? nullptr : &out;
  TENON_ASSIGN_OR_RETURN(runtime::Generator generator, runtime::Generator::create(executor));
  if (!options.ids.empty()) {
    IdOutput output(stream);
    return generate(executor, generator, options, options.ids, output, loadNs, out, log);
  }
  const runtime::Program& program = executor.program();
  if (!program.tokenizer)
    return absl::InvalidArgumentError(
        "expects the program of a language model with its tokeniser, but it has none (--ids "
        "continues token ids without one)");
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(*program.tokenizer));
  if (options.hasTurns())
    return chatInTurns(executor, generator, options, *tokenizer, loadNs, out, log);
  TENON_ASSIGN_OR_RETURN(std::string promptText, readPrompt(options));
  TENON_ASSIGN_OR_RETURN(runtime::StopTexts stops, runtime::StopTexts::create(options.stops));
  if (!options.chat.empty()) {
    TENON_ASSIGN_OR_RETURN(Chat chat, Chat::create(*tokenizer, options.system()));
    TENON_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, chat.ask(std::move(promptText)));
    TextOutput output(*tokenizer, std::move(stops), /*showsPrompt=*/false, stream);
    return generate(executor, generator, options, prompt, output, loadNs, out, log);
  }
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> prompt,
                         tokenizer->encode(promptText, options.special));
  if (promptText.empty() && !prompt.empty())
    log << "the prompt is empty: the text begins after the model's own first token" << std::endl;
  TextOutput output(*tokenizer, std::move(stops), /*showsPrompt=*/true, stream);
  return generate(executor, generator, options, prompt, output, loadNs, out, log);
}

} // namespace tenon::tools
