#include "tools/common/GenerateCommand.h"

#include <algorithm>
#include <span>
#include <vector>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "runtime/program/Program.h"
#include "runtime/text/Generator.h"
#include "runtime/text/StreamingDetokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"

namespace tenon::tools {

using runtime::Generation;
using runtime::StreamingDetokenizer;

void addGenerateOptions(CLI::App& command, GenerateOptions& options) {
  command.add_option("-p,--prompt", options.prompt, "The text to continue");
  command.add_option("-n,--tokens", options.count, "New tokens at most")->capture_default_str();
  command
      .add_option("--temperature", options.sampler.temperature,
                  "What logits are divided by before drawing; 0 takes the most likely token")
      ->capture_default_str();
  command
      .add_option("--top-k", options.sampler.topK,
                  "Draw from that many most likely tokens only; 0 for all")
      ->capture_default_str();
  command
      .add_option("--top-p", options.sampler.topP,
                  "Draw from the most likely tokens of that probability together only")
      ->capture_default_str();
  command
      .add_option("--seed", options.sampler.seed, "Seed of the draws: the same seed, the same text")
      ->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads; 0 for every core")
      ->capture_default_str();
  command.add_flag("--json", options.json,
                   "One object instead: prompt_ids, ids, text, stop, load_ns, prompt_ns, token_ns");
}

/// Prints the text of tokens as it becomes complete, or collects it.
class TextOutput {
public:
  /// `stream` is null where the text is only collected.
  TextOutput(const runtime::Tokenizer& tokenizer, std::ostream* stream)
      : detokenizer(tokenizer), stream(stream) {}

  absl::Status push(int32_t id) {
    TENON_ASSIGN_OR_RETURN(std::string piece, detokenizer.push(id));
    append(piece);
    return absl::OkStatus();
  }
  void finish() { append(detokenizer.flush()); }
  const std::string& text() const { return collected; }

private:
  void append(const std::string& piece) {
    collected += piece;
    if (stream && !piece.empty())
      *stream << piece << std::flush;
  }

  StreamingDetokenizer detokenizer;
  std::ostream* stream;
  std::string collected;
};

static std::string timesText(const Generation& generation, size_t promptTokens, int64_t loadNs) {
  std::string text = absl::StrFormat("loaded in %.1f ms; %u prompt tokens and the first new one in "
                                     "%.1f ms",
                                     loadNs / 1e6, promptTokens, generation.promptNs / 1e6);
  std::vector<int64_t> sorted = generation.tokenNs;
  if (sorted.empty())
    return text;
  std::ranges::sort(sorted);
  double medianNs = static_cast<double>(sorted[sorted.size() / 2]);
  return text + absl::StrFormat("; %u further tokens, median %.3f ms (%.1f a second)",
                                sorted.size(), medianNs / 1e6, 1e9 / medianNs);
}

absl::Status generateText(runtime::Executor& executor, const GenerateOptions& options,
                          int64_t loadNs, std::ostream& out, std::ostream& log) {
  if (!executor.program().tokenizer)
    return absl::InvalidArgumentError(
        "expects the program of a language model with its tokeniser, but it has none");
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(*executor.program().tokenizer));
  TENON_ASSIGN_OR_RETURN(runtime::Sampler sampler, runtime::Sampler::create(options.sampler));
  TENON_ASSIGN_OR_RETURN(runtime::Generator generator, runtime::Generator::create(executor));
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, tokenizer->encode(options.prompt));

  TextOutput text(*tokenizer, options.json ? nullptr : &out);
  for (int32_t id : prompt)
    TENON_RETURN_IF_ERROR(text.push(id));
  absl::Status status;
  auto onToken = [&](int32_t id) {
    status = text.push(id);
    return status.ok();
  };
  TENON_ASSIGN_OR_RETURN(Generation generation,
                         generator.generate(prompt, options.count, sampler, onToken));
  TENON_RETURN_IF_ERROR(status);
  text.finish();

  if (!options.json) {
    out << std::endl;
    log << timesText(generation, prompt.size(), loadNs) << std::endl;
    return absl::OkStatus();
  }
  nlohmann::ordered_json object = {{"prompt_ids", prompt},
                                   {"ids", generation.ids},
                                   {"text", text.text()},
                                   {"stop", runtime::stopReasonName(generation.reason)},
                                   {"load_ns", loadNs},
                                   {"prompt_ns", generation.promptNs},
                                   {"token_ns", generation.tokenNs}};
  out << object.dump() << std::endl;
  return absl::OkStatus();
}

} // namespace tenon::tools
