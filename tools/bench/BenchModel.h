#ifndef TENON_TOOLS_BENCH_BENCHMODEL_H
#define TENON_TOOLS_BENCH_BENCHMODEL_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/StepTimeline.h"
#include "runtime/program/Program.h"
#include "tools/bench/Distribution.h"
#include "tools/bench/StepGroups.h"

namespace tenon::tools {

/// Tokens of one sequence in a call, at positions that follow each other.
struct TokenChunk {
  int64_t position = 0; ///< of the first: how many keys lie before it
  int64_t rows = 1;
};

/// What is measured: calls of one function, all at the same positions.
struct BenchOptions {
  int64_t position = 512; ///< of each sequence's first token
  /// What the rows of decode and mixed are, chunk i of sequence i; those that are left over are idle.
  /// Where there are none, all rows are at `position`: of decode each of another sequence, of mixed a
  /// chunk of sequence 0 and after it one row of each other sequence, as far as there are rows.
  std::vector<TokenChunk> chunks = {};
  int64_t calls = 200;
  int64_t warmupCalls = 20;
  int64_t profiledCalls = 20;  ///< with every step timed; not among `calls`
  int64_t generatedTokens = 0; ///< that one `generate` times
};

/// The times of one executor.
struct BenchResult {
  std::vector<uint64_t> stepsNs;   ///< of each call's steps, as the device measures them
  std::vector<uint64_t> callNs;    ///< of each call as its caller sees it, copies included
  std::vector<uint64_t> profileNs; ///< mean time of each step, timed by itself
  /// Of each token of a generation as its caller sees it: from one token to the next.
  std::vector<uint64_t> tokenNs;
  std::vector<int32_t> tokenIds; ///< [tokens, rows] of a generation, those that warm up included
  std::vector<std::vector<uint64_t>> groupNs; ///< by group: of each call of its steps alone
  /// What memory moved in a call's steps, and by group in its steps alone; where it was counted.
  std::optional<runtime::MemoryTraffic> traffic;
  std::vector<runtime::MemoryTraffic> groupTraffic;
};

/// Tokens of each `ModelBench::generate` that warm up.
inline constexpr int64_t warmupTokens = 8;

/// A function of a program under measurement: its inputs at the position, filled caches, times.
class ModelBench {
public:
  /// `executor` must outlive the bench. NotFound where its program has no function of that role
  /// and rows; InvalidArgument where the position and the rows do not fit the context.
  static absl::StatusOr<ModelBench> create(runtime::Executor& executor, runtime::Role role,
                                           int64_t rows, const BenchOptions& options);
  /// The same of function `index`, of any graph: every call takes `inputs`, of the sizes of its
  /// ports, and states start as after loading.
  static ModelBench ofGraph(runtime::Executor& executor, size_t index,
                            std::vector<std::vector<std::byte>> inputs,
                            const BenchOptions& options);

  const runtime::Function& function() const { return executor->program().functions[index]; }
  /// That the states of a language model hold.
  int64_t sequences() const { return executor->program().model->sequences; }
  size_t functionIndex() const { return index; }

  /// Feeds tokens of every sequence at every position before the measured one, so that the caches hold
  /// values of the model, and makes the calls that warm up. Prefill starts at position 0 and needs none.
  absl::Status prepare();
  /// One measured call.
  absl::Status call();
  /// Generates tokens from the measured position on, each the most likely one, fed to the next step
  /// on the device where it can do that, else by the host, and times each but the first ones.
  /// Internal where the tokens are not those of the generation before.
  absl::Status generate();
  /// Calls each group, and measures its steps `calls` times more.
  absl::Status callGroups(std::span<const GroupFunction> groups, int64_t calls);
  /// Has the device count what its memory moves in a call, and in a call of each group. Fails as
  /// `Executor::countTraffic` does, and has counted nothing then.
  absl::Status countTraffic(std::span<const GroupFunction> groups);
  /// One call at the measured position that `observer` looks at from step to step.
  absl::Status observe(runtime::StepObserver& observer);
  /// As many calls as `profile` makes, of kernels that stamp: the timeline of each. They are measured
  /// calls too.
  absl::StatusOr<std::vector<runtime::StepTimeline>> timelines();
  /// The calls that time every step.
  absl::Status profile();

  const BenchResult& result() const { return times; }
  /// What the last call returned, by port.
  const std::vector<std::vector<std::byte>>& results() const { return outputs; }

private:
  ModelBench(runtime::Executor& executor, size_t index, const BenchOptions& options);
  bool isModel() const { return function().role != runtime::Role::Other; }
  std::span<int32_t> integers(size_t input);
  /// The same, of the input of that role, which a language model has.
  std::span<int32_t> integers(runtime::PortRole role);
  /// Makes the inputs of a call of a language model whose rows are `chunks`, those of no rows left out.
  void setRows(std::span<const TokenChunk> chunks);
  void setMeasuredRows();
  /// Results that nobody looks at stay on the device, in calls whose whole time does not count.
  enum class Results { Wanted, Unwanted };
  std::vector<std::span<std::byte>> places(Results results);
  absl::Status runInputs(Results results = Results::Wanted);
  absl::Status runMeasured(Results results = Results::Wanted);
  /// Runs the steps of `function`, the last call's, once more on the inputs that the device keeps; a
  /// whole call where it keeps none.
  absl::Status repeatSteps(size_t function);
  /// So many calls at the measured position, of which those between the first and the last repeat
  /// steps alone.
  absl::Status runAndRepeat(int64_t calls);
  /// Fills the caches up to the measured position.
  absl::Status feedDecode();
  absl::Status feedMixed();
  /// The tokens that they chose, [count, rows].
  absl::StatusOr<std::vector<int32_t>> generateOnDevice(runtime::TokenStream& stream,
                                                        int64_t count);
  absl::StatusOr<std::vector<int32_t>> generateOnHost(int64_t count);
  /// Feeds the most likely tokens of the last call, at the positions that follow.
  void feedBack();
  runtime::Executor* executor;
  size_t index;
  BenchOptions options;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  BenchResult times;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_BENCHMODEL_H
