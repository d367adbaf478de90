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
  PoissonLoad poisson = {.requests = 200, .inputTokens = 512, .outputTokens = 128};
  bool isBatchInvariant = false;     ///< as in `BatchOptions`
  const CLI::Option* flag = nullptr; ///< `--requests`, owned by the application

  bool isGiven() const { return flag && flag->count() > 0; }
};

/// Adds `--requests`, which fills `load`, to `command`.
void addLoadFlag(CLI::App& command, LoadOptions& load);

/// A usage error where the flag names neither a file nor random requests, or both.
absl::Status checkLoad(const LoadOptions& load);

/// Offers the load to the model under one plan after the other, with up to `sequences` requests at
/// once; prints a table a plan, or writes an array of one object a plan as `json` says.
absl::Status benchLoad(const LoadOptions& load, ModelOptions model, const FlagRules& rules,
                       int64_t sequences, const std::vector<std::string>& plans,
                       const PlanFlags& flags, const ExecutorOptions& executorOptions,
                       const JsonFlag& json);

} // namespace tenon::tools

#endif // TENON_TOOLS_TENON_BENCHLOAD_H
