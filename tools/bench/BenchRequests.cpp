#include "tools/bench/BenchRequests.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/bench/Distribution.h"

namespace tenon::tools {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t nsSince(Clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

/// The time of all cores that this process has had.
uint64_t processorNs() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// Calls each function once with idle rows: what a first call has to make, as CUDA graphs, is no
/// request's time.
absl::Status warmUp(runtime::Executor& executor) {
  const std::vector<runtime::Function>& functions = executor.program().functions;
  for (size_t index = 0; index < functions.size(); ++index) {
    if (functions[index].role == runtime::Role::Other)
      continue;
    std::vector<std::vector<std::byte>> values;
    for (const runtime::Port& port : functions[index].inputs)
      values.emplace_back(port.bytes,
                          std::byte(port.role == runtime::PortRole::Positions ? 255 : 0));
    const std::vector<std::span<const std::byte>> inputs(values.begin(), values.end());
    const std::vector<std::span<std::byte>> outputs(functions[index].outputs.size());
    TENON_RETURN_IF_ERROR(executor.run(index, inputs, outputs));
  }
  return absl::OkStatus();
}

/// Of what the caches hold, the part that running requests have: of the positions of all sequences, or
/// of the pages.
double heldShare(const runtime::ModelInfo& model, const runtime::BatchStatistics& counts) {
  if (counts.pages > 0)
    return 1 - static_cast<double>(counts.freePages) / static_cast<double>(counts.pages);
  return static_cast<double>(counts.cachedTokens) / static_cast<double>(model.sequences) /
         static_cast<double>(model.context);
}

/// A load on its way through a scheduler.
class LoadRun {
public:
  LoadRun(runtime::Executor& executor, runtime::BatchScheduler& scheduler,
          std::span<const TimedRequest> load)
      : executor(executor), scheduler(scheduler), load(load) {}

  absl::StatusOr<RequestBench> run(const std::function<void(int64_t)>& onProgress) {
    const runtime::ModelInfo& model = *executor.program().model;
    start = Clock::now();
    const uint64_t processorStartNs = processorNs();
    double runningNs = 0, cachedNs = 0;
    while (ended < load.size()) {
      TENON_RETURN_IF_ERROR(submitArrived());
      const Clock::time_point before = Clock::now();
      TENON_ASSIGN_OR_RETURN(const bool worked, scheduler.step());
      TENON_RETURN_IF_ERROR(failure);
      if (!worked) {
        if (submitted < load.size())
          std::this_thread::sleep_until(arrivalOf(submitted));
        continue;
      }
      const uint64_t ns = nsSince(before);
      bench.busyNs += ns;
      bench.deviceNs += executor.lastStepsNs();
      bench.counts = scheduler.statistics();
      runningNs += static_cast<double>(ns) * static_cast<double>(bench.counts.running);
      cachedNs += static_cast<double>(ns) * heldShare(model, bench.counts);
      if (onProgress)
        onProgress(static_cast<int64_t>(ended));
    }
    bench.wallNs = nsSince(start);
    bench.processorNs = processorNs() - processorStartNs;
    const auto wallNs = static_cast<double>(bench.wallNs);
    bench.meanRunning = runningNs / wallNs;
    bench.meanCachedShare = cachedNs / wallNs;
    return std::move(bench);
  }

private:
  Clock::time_point arrivalOf(size_t index) const {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(load[index].arrivalS));
  }

  absl::Status submitArrived() {
    for (; submitted < load.size() && arrivalOf(submitted) <= Clock::now(); ++submitted) {
      const TimedRequest& request = load[submitted];
      // What the request waited for the step before to end counts as well.
      const uint64_t lateNs = nsSince(arrivalOf(submitted));
      absl::StatusOr<runtime::RequestId> id = scheduler.submit(
          {.prompt = request.prompt,
           .maxTokens = request.maxTokens,
           .onEnd = [this, lateNs, index = submitted](const runtime::RequestResult& result) {
             collect(index, lateNs, result);
           }});
      if (!id.ok())
        return absl::Status(
            id.status().code(),
            absl::StrFormat("request %d: %s", submitted + 1, std::string(id.status().message())));
    }
    return absl::OkStatus();
  }

  void collect(size_t index, uint64_t lateNs, const runtime::RequestResult& result) {
    ++ended;
    if (!result.status.ok() && failure.ok())
      failure =
          absl::Status(result.status.code(), absl::StrFormat("request %d: %s", index + 1,
                                                             std::string(result.status.message())));
    bench.promptTokens += static_cast<int64_t>(load[index].prompt.size());
    bench.newTokens += static_cast<int64_t>(result.ids.size());
    bench.queueNs.push_back(static_cast<uint64_t>(result.queueNs) + lateNs);
    bench.requestNs.push_back(static_cast<uint64_t>(result.totalNs) + lateNs);
    if (result.firstTokenNs > 0)
      bench.firstTokenNs.push_back(static_cast<uint64_t>(result.firstTokenNs) + lateNs);
    if (result.ids.size() > 1)
      bench.perTokenNs.push_back(static_cast<uint64_t>(result.totalNs - result.firstTokenNs) /
                                 (result.ids.size() - 1));
  }

  runtime::Executor& executor;
  runtime::BatchScheduler& scheduler;
  std::span<const TimedRequest> load;
  Clock::time_point start;
  size_t submitted = 0;
  size_t ended = 0;
  absl::Status failure;
  RequestBench bench;
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Mean rows of the decode calls that were not idle.
double meanDecodeRows(const RequestBench& bench) {
  return share(static_cast<double>(bench.counts.decodeTokens),
               static_cast<double>(bench.counts.decodeCalls));
}

double perSecond(int64_t count, const RequestBench& bench) {
  return share(static_cast<double>(count) * 1e9, static_cast<double>(bench.wallNs));
}

/// The calls of several sequences' chunks, where there were any.
std::string describeMixed(const runtime::BatchStatistics& counts) {
  if (counts.mixedCalls == 0)
    return "";
  return absl::StrFormat(", %d mixed with %d tokens", counts.mixedCalls, counts.mixedTokens);
}

/// What `meanCachedShare` is a part of.
std::string describeHeld(const runtime::BatchStatistics& counts) {
  if (counts.pages == 0)
    return "positions hold keys";
  return absl::StrFormat("%d pages hold keys, %d requests lost theirs to older ones", counts.pages,
                         counts.preemptions);
}

/// The figures by request, with their names.
std::vector<std::pair<const char*, const std::vector<uint64_t>*>>
timesOf(const RequestBench& bench) {
  return {{"queue", &bench.queueNs},
          {"first token", &bench.firstTokenNs},
          {"token", &bench.perTokenNs},
          {"request", &bench.requestNs}};
}

} // namespace

absl::StatusOr<RequestBench> benchRequests(runtime::Executor& executor,
                                           std::span<const TimedRequest> load,
                                           runtime::BatchOptions options,
                                           const std::function<void(int64_t)>& onProgress) {
  options.mostWaiting = static_cast<int64_t>(load.size());
  TENON_RETURN_IF_ERROR(warmUp(executor));
  TENON_ASSIGN_OR_RETURN(auto scheduler, runtime::BatchScheduler::create(executor, options));
  return LoadRun(executor, *scheduler, load).run(onProgress);
}

std::string formatRequestBench(const RequestBench& bench) {
  std::string text = absl::StrFormat(
      "%d requests in %.2f s: %.1f prompt tokens/s, %.1f new tokens/s\n"
      "%-12s %10s %10s %10s %10s  ms\n",
      bench.requestNs.size(), bench.wallNs / 1e9, perSecond(bench.promptTokens, bench),
      perSecond(bench.newTokens, bench), "", "P50", "P90", "P99", "mean");
  for (const auto& [name, times] : timesOf(bench)) {
    if (times->empty())
      continue;
    const Distribution all = summarize(*times);
    text += absl::StrFormat("%-12s %10.3f %10.3f %10.3f %10.3f\n", name, all.medianNs / 1e6,
                            all.p90Ns / 1e6, all.p99Ns / 1e6, all.meanNs / 1e6);
  }
  const auto busyNs = static_cast<double>(bench.busyNs);
  return text +
         absl::StrFormat(
             "calls: %d of decode with %.1f rows on average, %d of prefill with %d tokens%s; %d "
             "tokens of prompts taken over; %d of %d guesses in idle rows right\n"
             "slots: %.1f of %d taken on average, %d at most; %.1f %% of the %s\n"
             "time: %.1f %% busy; of that %.1f %% outside of the model's steps; %.2f cores\n",
             bench.counts.decodeCalls, meanDecodeRows(bench), bench.counts.prefillCalls,
             bench.counts.prefillTokens, describeMixed(bench.counts), bench.counts.reusedTokens,
             bench.counts.acceptedTokens, bench.counts.draftedTokens, bench.meanRunning,
             bench.counts.slots, bench.counts.mostRunning, 100 * bench.meanCachedShare,
             describeHeld(bench.counts), 100 * share(busyNs, static_cast<double>(bench.wallNs)),
             100 * share(busyNs - static_cast<double>(bench.deviceNs), busyNs),
             share(static_cast<double>(bench.processorNs), static_cast<double>(bench.wallNs)));
}

nlohmann::ordered_json describeRequestBench(const RequestBench& bench) {
  nlohmann::ordered_json json = {{"requests", bench.requestNs.size()},
                                 {"wall_ns", bench.wallNs},
                                 {"busy_ns", bench.busyNs},
                                 {"device_ns", bench.deviceNs},
                                 {"processor_ns", bench.processorNs},
                                 {"prompt_tokens", bench.promptTokens},
                                 {"new_tokens", bench.newTokens},
                                 {"prompt_tokens_per_s", perSecond(bench.promptTokens, bench)},
                                 {"new_tokens_per_s", perSecond(bench.newTokens, bench)},
                                 {"reused_tokens", bench.counts.reusedTokens},
                                 {"drafted_tokens", bench.counts.draftedTokens},
                                 {"accepted_tokens", bench.counts.acceptedTokens},
                                 {"decode_calls", bench.counts.decodeCalls},
                                 {"mean_decode_rows", meanDecodeRows(bench)},
                                 {"prefill_calls", bench.counts.prefillCalls},
                                 {"mixed_calls", bench.counts.mixedCalls},
                                 {"mixed_tokens", bench.counts.mixedTokens},
                                 {"slots", bench.counts.slots},
                                 {"mean_running", bench.meanRunning},
                                 {"most_running", bench.counts.mostRunning},
                                 {"mean_cached_share", bench.meanCachedShare},
                                 {"pages", bench.counts.pages},
                                 {"preemptions", bench.counts.preemptions}};
  for (const auto& [name, times] : timesOf(bench)) {
    if (times->empty())
      continue;
    const Distribution all = summarize(*times);
    std::string key = name;
    std::ranges::replace(key, ' ', '_');
    json[key + "_ns"] = {
        {"p50", all.medianNs}, {"p90", all.p90Ns}, {"p99", all.p99Ns}, {"mean", all.meanNs}};
  }
  return json;
}

} // namespace tenon::tools
