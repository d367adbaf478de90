#include "tools/run/Perplexity.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/program/Program.h"
#include "runtime/text/Generator.h"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

/// log p of token `id` where the logits are `logits`.
static double logProbability(std::span<const float> logits, int32_t id) {
  double largest = *std::ranges::max_element(logits), sum = 0;
  for (float logit : logits)
    sum += std::exp(logit - largest);
  return logits[id] - largest - std::log(sum);
}

/// The window that is meant, which must fit the context.
static absl::StatusOr<int64_t> chooseWindow(int64_t window, int64_t context) {
  constexpr int64_t usualWindow = 512; // of published perplexities of small models
  int64_t chosen = window == 0 ? std::min(context, usualWindow) : window;
  if (chosen < 2 || chosen > context)
    return usageError(
        absl::StrFormat("--context: expects windows of 2 to %d tokens, the context of the program, "
                        "but got %d",
                        context, chosen));
  return chosen;
}

/// The text as tokens of the vocabulary, two at least.
static absl::StatusOr<std::vector<int32_t>> readTokens(const runtime::Program& program,
                                                       const std::string& text) {
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(*program.tokenizer));
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer->encode(text));
  if (ids.size() < 2)
    return absl::InvalidArgumentError(
        absl::StrFormat("perplexity: expects a text of at least 2 tokens, but got %u", ids.size()));
  for (int32_t id : ids)
    if (id < 0 || id >= program.model->vocabulary)
      return absl::InvalidArgumentError(
          absl::StrFormat("perplexity: expects tokens below %d, the model's vocabulary, but its "
                          "tokeniser gave %d",
                          program.model->vocabulary, id));
  return ids;
}

absl::StatusOr<Perplexity>
computePerplexity(runtime::Executor& executor, const std::string& text, int64_t window,
                  const std::function<void(size_t done, size_t total)>& onWindow) {
  const runtime::Program& program = executor.program();
  if (!program.tokenizer || !program.model)
    return absl::InvalidArgumentError(
        "expects the program of a language model with its tokeniser, but it has none");
  TENON_ASSIGN_OR_RETURN(window, chooseWindow(window, program.model->context));
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids, readTokens(program, text));
  TENON_ASSIGN_OR_RETURN(runtime::Generator generator, runtime::Generator::create(executor));
  Perplexity result;
  auto vocabulary = static_cast<size_t>(program.model->vocabulary);
  for (std::span<const int32_t> rest = ids; rest.size() > 1;) {
    std::span<const int32_t> part = rest.first(std::min<size_t>(rest.size(), window));
    TENON_ASSIGN_OR_RETURN(std::vector<float> logits,
                           generator.computeLogits(part.first(part.size() - 1)));
    for (size_t i = 1; i < part.size(); ++i)
      result.logLikelihood +=
          logProbability(std::span(logits).subspan((i - 1) * vocabulary, vocabulary), part[i]);
    result.predicted += static_cast<int64_t>(part.size()) - 1;
    ++result.windows;
    rest = rest.subspan(part.size());
    if (onWindow)
      onWindow(ids.size() - rest.size(), ids.size());
  }
  result.perplexity = std::exp(-result.logLikelihood / static_cast<double>(result.predicted));
  return result;
}

} // namespace tenon::tools
