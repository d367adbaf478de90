#ifndef TENON_TOOLS_BENCH_BENCHREQUESTS_H
#define TENON_TOOLS_BENCH_BENCHREQUESTS_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "runtime/Executor.h"
#include "runtime/batching/BatchScheduler.h"
#include "tools/bench/RequestLoad.h"

namespace tenon::tools {

/// What a load of requests met, all times in ns. The first four are by request.
struct RequestBench {
  std::vector<uint64_t> queueNs;      ///< from arrival to a slot
  std::vector<uint64_t> firstTokenNs; ///< from arrival; of those that made a token
  std::vector<uint64_t> perTokenNs;   ///< mean of the tokens after the first, where there are any
  std::vector<uint64_t> requestNs;    ///< from arrival to the end
  int64_t promptTokens = 0;
  int64_t newTokens = 0;
  uint64_t wallNs = 0;      ///< from the begin to the last request's end
  uint64_t busyNs = 0;      ///< of it within steps of the scheduler
  uint64_t deviceNs = 0;    ///< of that the model's steps, as the device measures them
  uint64_t processorNs = 0; ///< of all cores, for all that the process did in the wall time
  runtime::BatchStatistics counts;
  double meanRunning = 0;     ///< requests with a slot, over the wall time
  double meanCachedShare = 0; ///< of the positions or pages of the states, over the wall time
};

/// Offers the requests at their times to a scheduler on `executor`'s program, until all have ended:
/// one with these options, which lets all of them wait. `onProgress` takes the number of those that
/// have ended. Fails with the status of a request that the scheduler refuses, with its number, or of
/// one that failed.
absl::StatusOr<RequestBench> benchRequests(runtime::Executor& executor,
                                           std::span<const TimedRequest> load,
                                           runtime::BatchOptions options = {},
                                           const std::function<void(int64_t)>& onProgress = {});

/// A table of the figures.
std::string formatRequestBench(const RequestBench& bench);
/// The same for programs.
nlohmann::ordered_json describeRequestBench(const RequestBench& bench);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_BENCHREQUESTS_H
