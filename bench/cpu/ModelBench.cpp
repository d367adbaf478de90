// Decode and prefill of models on the CPU beside the machine's read bandwidth, alternated in one
// run:
//
//   tenon random-model llama-3.2-1b --type q8_0 -o /tmp/1b-q8_0.gguf
//   bench_cpu_model --model=/tmp/1b-q8_0.gguf
//
// Decode is a median over steps of real token-by-token decode (greedy token of the step before)
// from position 64 on; `read_GBps` is the median of reads of a buffer between the steps. Prefill is
// a median over chunks of 64 tokens from position 0 on, `least_ms` the least. Each model is measured
// with activations of f32 and with those quantised where that is faster, q8. `same_bits` is 1 where logits of one thread
// and of all threads are the same bits.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/cpu/LoadedModel.h"
#include "bench/cpu/Median.h"
#include "bench/cpu/ReadBandwidth.h"
#include "runtime/cpu/UsableCores.h"
#include "support/Status.h"

namespace tenon::bench {

namespace {

constexpr int64_t firstPosition = 64;

void benchDecode(benchmark::State& state, LoadedModel& model, ReadBandwidth& bandwidth) {
  constexpr int stepsPerRead = 4;
  std::vector<double> steps, reads;
  int32_t token = 1, position = 0;
  for (auto _ : state) {
    absl::StatusOr<int32_t> next;
    double seconds = measureSeconds([&] { next = model.decode(token, position); });
    if (!next.ok())
      return state.SkipWithError(std::string(next.status().message()).c_str());
    state.SetIterationTime(seconds);
    if (position >= firstPosition)
      steps.push_back(seconds);
    if (position % stepsPerRead == 0)
      reads.push_back(bandwidth.measureSeconds());
    token = *next;
    position = (position + 1) % contextLength;
  }
  if (steps.empty() || reads.empty())
    return state.SkipWithError("expects more than 64 iterations");
  double decode = static_cast<double>(model.decodeBytes()) / median(steps) / 1e9;
  double read = static_cast<double>(bandwidth.bytes()) / median(reads) / 1e9;
  state.counters["median_ms"] = median(steps) * 1e3;
  state.counters["tokens_per_s"] = 1 / median(steps);
  state.counters["weight_GB"] = static_cast<double>(model.decodeBytes()) / 1e9;
  state.counters["decode_GBps"] = decode;
  state.counters["read_GBps"] = read;
  state.counters["percent_of_read"] = 100 * decode / read;
}

/// Ids that differ from one another, all over the vocabulary.
std::vector<int32_t> makePrompt(int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < prefillRows; ++i)
    ids.push_back(static_cast<int32_t>((i * 7919 + 1) % vocabulary));
  return ids;
}

void benchPrefill(benchmark::State& state, LoadedModel& model, ReadBandwidth& bandwidth) {
  std::vector<int32_t> ids = makePrompt(model.vocabulary());
  std::vector<double> chunks, reads;
  for (auto _ : state) {
    absl::Status status;
    chunks.push_back(measureSeconds([&] { status = model.prefill(ids).status(); }));
    if (!status.ok())
      return state.SkipWithError(std::string(status.message()).c_str());
    state.SetIterationTime(chunks.back());
    reads.push_back(bandwidth.measureSeconds());
  }
  state.counters["median_ms"] = median(chunks) * 1e3;
  state.counters["least_ms"] = *std::min_element(chunks.begin(), chunks.end()) * 1e3;
  state.counters["tokens_per_s"] = prefillRows / median(chunks);
  state.counters["read_GBps"] = static_cast<double>(bandwidth.bytes()) / median(reads) / 1e9;
}

/// Logits of a prefill and of a decode step after it.
absl::StatusOr<std::vector<float>> computeLogits(LoadedModel& model) {
  std::vector<float> all;
  auto append = [&] {
    all.insert(all.end(), model.lastLogits().begin(), model.lastLogits().end());
  };
  TENON_ASSIGN_OR_RETURN(int32_t token, model.prefill(makePrompt(model.vocabulary())));
  append();
  TENON_RETURN_IF_ERROR(model.decode(token, prefillRows).status());
  append();
  return all;
}

/// A model file and how it is compiled.
struct Setting {
  std::string path, activations;
};

void compareThreads(benchmark::State& state, const Setting& setting, LoadedModel& model) {
  for (auto _ : state) {
    absl::StatusOr<LoadedModel> single = LoadedModel::load(setting.path, setting.activations, 1);
    if (!single.ok())
      return state.SkipWithError(std::string(single.status().message()).c_str());
    auto one = computeLogits(*single), all = computeLogits(model);
    if (!one.ok() || !all.ok())
      return state.SkipWithError("a call failed");
    state.counters["same_bits"] =
        std::memcmp(one->data(), all->data(), all->size() * sizeof(float)) == 0;
  }
}

absl::Status runBenchmarks(const std::vector<std::string>& paths) {
  constexpr size_t readBytes = size_t(1) << 30;
  int threads = runtime::usableCores();
  TENON_ASSIGN_OR_RETURN(auto pool, runtime::ThreadPool::create(threads));
  TENON_ASSIGN_OR_RETURN(ReadBandwidth bandwidth,
                         ReadBandwidth::create(readBytes, std::move(pool)));
  std::vector<Setting> settings;
  for (const std::string& path : paths)
    for (const char* activations : {"f32", "q8"})
      settings.push_back({path, activations});
  std::vector<LoadedModel> models;
  models.reserve(settings.size());
  for (const Setting& setting : settings) {
    TENON_ASSIGN_OR_RETURN(models.emplace_back(),
                           LoadedModel::load(setting.path, setting.activations, threads));
    LoadedModel& model = models.back();
    std::string name = setting.activations + "/" + setting.path;
    auto add = [&](const char* what, auto bench, int iterations) {
      benchmark::RegisterBenchmark((what + name).c_str(), bench)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(iterations);
    };
    add("decode/", [&](benchmark::State& state) { benchDecode(state, model, bandwidth); }, 192);
    add("prefill/", [&](benchmark::State& state) { benchPrefill(state, model, bandwidth); }, 12);
    auto compare = [&, setting](benchmark::State& state) { compareThreads(state, setting, model); };
    benchmark::RegisterBenchmark(("threads/" + name).c_str(), compare)->Iterations(1);
  }
  benchmark::RunSpecifiedBenchmarks();
  return absl::OkStatus();
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--model=", 0) == 0)
      paths.push_back(argument.substr(8));
    else
      rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data()) || paths.empty()) {
    std::cerr << "usage: bench_cpu_model --model=FILE.gguf [--model=…] [--benchmark_…]\n";
    return 2;
  }
  absl::Status status = tenon::bench::runBenchmarks(paths);
  if (!status.ok())
    std::cerr << "bench_cpu_model: error: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
