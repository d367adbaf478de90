#ifndef TENON_TOOLS_COMMON_GENERATECOMMAND_H
#define TENON_TOOLS_COMMON_GENERATECOMMAND_H

#include <cstdint>
#include <ostream>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "runtime/Executor.h"
#include "runtime/text/Sampler.h"

namespace tenon::tools {

/// What the flags say about a text to generate.
struct GenerateOptions {
  std::string prompt;
  int64_t count = 128; ///< new tokens at most
  runtime::SamplerOptions sampler;
  bool json = false;
  int threads = 0; ///< 0: every core that the process may use
};

/// Adds `-p`, `-n`, `--json` and the flags of the sampler and the CPU to `command`.
void addGenerateOptions(CLI::App& command, GenerateOptions& options);

/// Continues `options.prompt` with the model that `executor` runs, as `tenon run` and `tenon-run`
/// do. Prints to `out` the text of prompt and continuation as it comes, and to `log` a line of
/// times; with `json`, prints one object to `out` at the end and nothing else:
///
///   prompt_ids, ids   token ids of the prompt, and the new ones
///   text              of both together, as the model's tokeniser decodes them
///   stop              why it ended (`runtime::stopReasonName`)
///   load_ns           `loadNs`, what it took to make the executor
///   prompt_ns         from the prompt's first token to the first new token
///   token_ns          of each further token
///
/// Fails where the program has no tokeniser, and as `Tokenizer` and `Generator` do.
absl::Status generateText(runtime::Executor& executor, const GenerateOptions& options,
                          int64_t loadNs, std::ostream& out, std::ostream& log);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_GENERATECOMMAND_H
