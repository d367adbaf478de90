#ifndef TENON_TOOLS_TENON_BENCHLOAD_H
#define TENON_TOOLS_TENON_BENCHLOAD_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/bench/RequestLoad.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tools {

/// A load of requests for `tenon bench`.
struct LoadOptions {
  std::string requests; ///< a file of them; else `poisson`
  PoissonLoad poisson = {.inputTokens = 512, .outputTokens = 128};
  bool isBatchInvariant = false; ///< as in `BatchOptions`

  bool isGiven() const { return !requests.empty() || poisson.perSecond > 0; }
};

/// Adds the flags that fill `load` to `command`.
void addLoadOptions(CLI::App& command, LoadOptions& load, FlagRules& rules);

/// Offers the load to the model under one plan after the other, with up to `sequences` requests at
/// once; prints a table a plan, or writes an array of one object a plan as `json` says.
absl::Status benchLoad(const LoadOptions& load, ModelOptions model, const FlagRules& rules,
                       int64_t sequences, const std::vector<std::string>& plans,
                       const PlanFlags& flags, const ExecutorOptions& executorOptions,
                       const JsonFlag& json);

} // namespace tenon::tools

#endif // TENON_TOOLS_TENON_BENCHLOAD_H
