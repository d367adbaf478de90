// Measures what fusion does to chains of operations on a GPU: for every point of bench/shapes, the
// fused and the unfused plan in turn, as one JSON object a line:
//
//     {"point": "rms_qkv f16 1x4096x6144", "chain": …, "type": …, "rows": …, "hidden": …,
//      "columns": …, "set": "check", "launch": "graph-pdl", "copies": 4,
//      "fused": {"kernels": 1, "predicted_ns": 13900, "ns": 14310, "deviation": 0.004},
//      "unfused": {"kernels": 4, "predicted_ns": 16800, "ns": 17220, "deviation": 0.003}}
//
// `ns` is the median of the time of one copy, of runs on inputs that stay on the device
// (`tools::timeInTurn`); the deviation is relative to it. Points of which no plan makes fewer kernels
// are left out, but for those of the set `peers`.
#include <atomic>
#include <fstream>
#include <future>
#include <iostream>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/fusion/TimedPoint.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"

namespace tenon::bench {
namespace {

struct Options {
  std::string shapes = "bench/shapes", set = "check", target = "h200", launch = "graph-pdl", out;
  std::string only; ///< part of the names of the points wanted
  int64_t calls = 15, threads = 0;
  bool compileOnly = false;
};

nlohmann::json toJson(const tools::Distribution& times, const CompiledPlan& plan, int copies) {
  auto median = static_cast<double>(times.medianNs);
  return {{"kernels", plan.kernels},
          {"predicted_ns", plan.predictedNs},
          {"ns", median / copies},
          {"deviation", times.deviationNs / median}};
}

absl::StatusOr<nlohmann::json> measurePoint(PointTimer& timer, const FusionPoint& point,
                                            const CompiledPoint& compiled, const Options& options) {
  TENON_ASSIGN_OR_RETURN(PointDistributions times, timer.time(compiled, options.calls));
  return nlohmann::json{{"point", point.name()},
                        {"chain", point.chain->name},
                        {"type", point.shape.type},
                        {"rows", point.shape.rows},
                        {"hidden", point.shape.hidden},
                        {"columns", point.shape.columns},
                        {"set", options.set},
                        {"launch", options.launch},
                        {"copies", compiled.copies},
                        {"fused", toJson(times.fused, compiled.fused, compiled.copies)},
                        {"unfused", toJson(times.unfused, compiled.unfused, compiled.copies)}};
}

/// Compiles points on several threads, in their order, while earlier ones are measured.
class Compiler {
public:
  Compiler(const std::vector<FusionPoint>& points, const Options& options)
      : points(points), options(options), promises(points.size()) {
    auto count = options.threads > 0 ? options.threads : std::thread::hardware_concurrency();
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
      threads.emplace_back([this] { work(); });
  }
  ~Compiler() {
    for (std::thread& thread : threads)
      thread.join();
  }

  absl::StatusOr<CompiledPoint> take(size_t index) { return promises[index].get_future().get(); }

private:
  void work() {
    for (size_t i; (i = next++) < points.size();)
      promises[i].set_value(compilePoint(points[i], options.target, options.launch));
  }

  const std::vector<FusionPoint>& points;
  const Options& options;
  std::vector<std::promise<absl::StatusOr<CompiledPoint>>> promises;
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
};

absl::Status measureAll(const Options& options) {
  TENON_ASSIGN_OR_RETURN(std::vector<FusionPoint> points, readPoints(options.shapes, options.set));
  std::erase_if(points, [&](const FusionPoint& point) {
    return point.name().find(options.only) == std::string::npos;
  });
  std::ofstream file;
  if (!options.out.empty())
    file.open(options.out);
  std::ostream& out = options.out.empty() ? std::cout : file;
  Compiler compiler(points, options);
  PointTimer timer(options.launch);
  size_t failed = 0, without = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    absl::StatusOr<CompiledPoint> compiled = compiler.take(i);
    absl::Status status = compiled.status();
    if (status.ok() && !compiled->fuses()) {
      ++without;
      if (options.set != "peers")
        continue;
    }
    if (status.ok() && !options.compileOnly) {
      absl::StatusOr<nlohmann::json> measured = measurePoint(timer, points[i], *compiled, options);
      status = measured.status();
      if (status.ok())
        out << measured->dump() << std::endl;
    }
    if (!status.ok()) {
      ++failed;
      std::cerr << points[i].name() << ": " << status.ToString() << "\n";
    }
  }
  std::cerr << points.size() << " points, " << without << " without a fused kernel, " << failed
            << " failed\n";
  return failed == 0 && out.good() ? absl::OkStatus() : absl::InternalError("points are missing");
}

} // namespace
} // namespace tenon::bench

int main(int count, char** arguments) {
  tenon::bench::Options options;
  CLI::App app("Times chains of operations fused and unfused on a GPU");
  app.add_option("--shapes", options.shapes, "Folder of shapes files")->capture_default_str();
  app.add_option("--set", options.set, absl::StrJoin(tenon::bench::pointSets, ", "))
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(tenon::bench::pointSets),
                                                     std::end(tenon::bench::pointSets))))
      ->capture_default_str();
  app.add_option("--only", options.only, "Part of the names of the points wanted");
  app.add_option("--target", options.target, "What to compile for")->capture_default_str();
  app.add_option("--launch", options.launch, "stream, graph or graph-pdl")->capture_default_str();
  app.add_option("--calls", options.calls, "Calls of each plan that count")->capture_default_str();
  app.add_option("--threads", options.threads, "That compile; 0: one a core");
  app.add_option("--out", options.out, "The file to write; else standard output");
  app.add_flag("--compile-only", options.compileOnly, "Without a GPU: compile every point");
  CLI11_PARSE(app, count, arguments);
  absl::Status status = tenon::bench::measureAll(options);
  if (!status.ok())
    std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
