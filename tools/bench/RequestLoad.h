#ifndef TENON_TOOLS_BENCH_REQUESTLOAD_H
#define TENON_TOOLS_BENCH_REQUESTLOAD_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// A request of a load that is offered to a model.
struct TimedRequest {
  double arrivalS = 0; ///< since the load began
  std::vector<int32_t> prompt;
  int64_t maxTokens = 0;
};

/// Requests that arrive independently of each other.
struct PoissonLoad {
  double perSecond = 0; ///< of arrivals, on average; above 0
  int64_t requests = 0;
  int64_t inputTokens = 0; ///< of each prompt, of random ids
  int64_t outputTokens = 0;
};

/// The load, by arrival; the same at every call.
std::vector<TimedRequest> makePoissonLoad(const PoissonLoad& load, int64_t vocabulary);

/// Reads the requests of a file, or of standard input (`-`), one JSON object a line:
///
///     {"prompt": "Once upon a time", "output": 128, "arrival": 0.5}
///
/// `output`: the most tokens to make; `arrival`: seconds since the begin, 0 where it is missing. In
/// place of `prompt`, `ids` gives the prompt's ids, `input` the number of random ones. In the order of
/// their arrival. Errors name the line.
absl::StatusOr<std::vector<TimedRequest>> readRequests(const std::string& path,
                                                       const runtime::Program& program);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_REQUESTLOAD_H
