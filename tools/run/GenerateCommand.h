#ifndef TENON_TOOLS_RUN_GENERATECOMMAND_H
#define TENON_TOOLS_RUN_GENERATECOMMAND_H

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "runtime/Executor.h"
#include "runtime/text/Sampler.h"
#include "runtime/text/Tokenizer.h"
#include "tools/cli/FlagRules.h"
#include "tools/cli/JsonFlag.h"

namespace tenon::tools {

/// What the flags say about a text to generate.
struct GenerateOptions {
  std::optional<std::string> prompt;
  std::string file; ///< with the prompt, or a function's inputs; `-`: standard input
  /// Token ids to continue instead of a text: no tokeniser is needed, and ids are printed.
  std::vector<int32_t> ids;
  runtime::EncodeOptions special; ///< tokens of the prompt
  std::vector<std::string> stops; ///< texts at which the answer ends
  std::string chat;               ///< a chat: the system's turn, `-` without one; empty: none
  int64_t count = 128;            ///< new tokens at most
  int64_t draft = 0;              ///< guesses a call at most
  bool draftsByHead = false;      ///< whether the model's own head guesses
  std::string draftModel; ///< a compiled program that guesses; empty: repetitions of the text do
  runtime::SamplerOptions sampler;
  JsonFlag json;
  int threads = 0; ///< 0: every core that the process may use

  /// The system's turn of the chat, or empty.
  std::string system() const { return chat == "-" ? "" : chat; }
  /// Whether lines of standard input are turns of a chat.
  bool hasTurns() const { return !chat.empty() && !prompt && file.empty(); }
};

/// Adds `-p`, `-f`, `--ids`, `--special`, `--chat`, `--stop`, `-n`, `--draft`, `--json` and the flags
/// of the sampler and the CPU to `command`.
void addGenerateOptions(CLI::App& command, GenerateOptions& options, FlagRules& rules);

/// Denies to `rules` what `options` leave without use: how tokens are drawn, where none is.
void denyUnusedSampling(const GenerateOptions& options, FlagRules& rules);

/// Continues `options.prompt` with the model that `executor` runs, as `tenon run` and `tenon-run`
/// do. The prompt is that of `-p`, of the file of `-f`, or, with neither, what a pipe on standard input
/// gives; one line break at the end of a file or pipe is left out. Prints to `out` the text of prompt
/// and continuation as it comes, and to `log` a line of times; with `json`, prints one object to `out`
/// at the end and nothing else:
///
///   prompt_ids, ids   token ids of the prompt, and the new ones
///   text              of both together, as the model's tokeniser decodes them, up to a stop text
///   stop              why it ended (`runtime::stopReasonName`)
///   load_ns           `loadNs`, what it took to make the executor
///   prompt_ns         from the prompt's first token to the first new token
///   token_ns          of each further token
///   drafted, accepted guesses that were verified, and those that were right (with `draft`)
///
/// With `chat` the prompt is a user's turn, which the model's chat template makes a text of; the text of
/// the answer alone is printed. Without a prompt each line of standard input is such a turn, up to its
/// end; the model's states are kept between turns.
///
/// With `ids` these are the prompt; new ids are printed instead of text, and the object has no text.
///
/// Fails, before it prints anything, where a text is asked for and the program has no tokeniser, where the prompt is longer than
/// the context, and as `Tokenizer` and `Generator` do.
absl::Status generateText(runtime::Executor& executor, const GenerateOptions& options,
                          int64_t loadNs, std::ostream& out, std::ostream& log);

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_GENERATECOMMAND_H
