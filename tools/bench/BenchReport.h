#ifndef TENON_TOOLS_BENCH_BENCHREPORT_H
#define TENON_TOOLS_BENCH_BENCHREPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "runtime/program/Program.h"
#include "tools/bench/BenchModel.h"
#include "tools/bench/FunctionWork.h"

namespace tenon::tools {

/// What was measured of one plan, and what it says about it.
struct BenchReport {
  std::string plan;
  std::string hardware; ///< the device, as `describeChoice` has it
  int threads = 0;      ///< as asked for: 0 for every core
  bool isModel = true;  ///< the function is one of a language model, not of any graph
  int64_t rows = 1;     ///< tokens that a call takes
  std::string launch;   ///< `stream`, `graph`, `graph-pdl`; `none` on a CPU
  std::string model;
  std::string device;      ///< the target's name
  std::string activations; ///< element type of the caches, which is that of the activations
  std::string function;
  int64_t position = 0;
  std::string chunks;       ///< what `--position` says of each sequence; empty where that counts
  uint64_t deviceBytes = 0; ///< peak memory
  int64_t readMBs = 0;      ///< the target's DRAM rate in 1e6 bytes a second; 0 if it has none
  BenchResult times;
  std::vector<StepWork> work;       ///< by step
  std::vector<int64_t> predictedNs; ///< by step, what the cost model says; empty where it can't
  int64_t predictedBeyondNs = 0;    ///< the same of a call beyond its steps
  uint64_t workspaceBytes = 0;
  std::vector<GroupFunction> groups; ///< whose times `times` has
};

/// `k3_rms_norm`; a CPU's kernels have such names already.
std::string kernelLabel(const runtime::Program& program, uint32_t kernel);

/// The share of a read rate of `readMBs` 1e6 bytes a second at which `bytes` are read in `ns`, in
/// percent; 0 where the rate or the time is none.
double readLimitPercent(int64_t readMBs, int64_t bytes, double ns);

/// The report as text: the distribution of the steps' times and the table of kernels.
std::string formatReport(const BenchReport& report, const runtime::Program& program,
                         size_t function);

/// The report as one object:
///
///   hardware, threads, rows
///   tokens_per_second   of whole calls, or of a generation where one is measured; of a graph, calls
///   plan, launch, model, target, activations, function, position (or chunks), calls, launches, device_bytes
///   predicted_ns        of a call at that position by the cost model, of its steps and beyond them;
///                       where it can price them
///   fixed_us_per_layer  of decode: the median of the steps less planned_bytes at read_mb_per_s, by
///                       layer; where the layers are known and the bytes do not come faster
///   steps_ns, call_ns   min, median, p90, p95, p99, max, mean, deviation
///   token_ns            the same of each token of a generation, host included; where measured
///   weight_bytes, other_bytes, flops   of a call, as the operations state them
///   planned_bytes       both together: what the plan's kernels have to read and write
///   counted_bytes       what memory read and wrote by the device's counters, counted_written_bytes of
///                       them written; null where nothing was counted
///   workspace_bytes     for what kernels hand on
///   groups              for each: name, steps, ns (median of its steps alone), bytes,
///                       counted_bytes, read_limit_percent
///   read_mb_per_s, read_limit_percent   the target's; the least time of the weights over the median
///   step_timing_ns      what timing a step by itself adds to it, on average
///   kernels             for each: symbol, steps, example, ns (of all its steps in a call, each timed
///                       by itself), net_ns (without what timing adds), predicted_ns, bytes,
///                       read_limit_percent
nlohmann::ordered_json describeReport(const BenchReport& report, const runtime::Program& program,
                                      size_t function);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_BENCHREPORT_H
