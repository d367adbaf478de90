#ifndef TENON_TOOLS_RUN_PERPLEXITY_H
#define TENON_TOOLS_RUN_PERPLEXITY_H

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"

namespace tenon::tools {

/// How well a model predicts a text: with p(i) the probability that it gives token i after those
/// before it,
///
///     perplexity = exp(−Σ log p(i) / predicted)
struct Perplexity {
  double perplexity = 0;
  double logLikelihood = 0; ///< Σ log p(i), natural logarithms, added in double
  int64_t predicted = 0;    ///< tokens that were: all but the first of each window
  int64_t windows = 0;
};

/// The perplexity of `text` under the model of `executor`. The text is cut into windows of `window`
/// tokens (0: the model's context, at most 512), each read from position 0 by itself. Fails where
/// the program has no tokeniser, the text has fewer than two tokens, `window` is not between 2 and
/// the context, and as `Generator` does.
/// `onWindow` hears how many of all tokens are read.
absl::StatusOr<Perplexity>
computePerplexity(runtime::Executor& executor, const std::string& text, int64_t window = 0,
                  const std::function<void(size_t done, size_t total)>& onWindow = {});

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_PERPLEXITY_H
