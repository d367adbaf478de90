#include <cmath>
#include <thread>

#include "absl/strings/str_format.h"
#include "support/Status.h"
#include "tools/calibrate/Calibration.h"
#include "tools/calibrate/Probe.h"

namespace tenon::tools {

static MeasuredProperty rounded(const char* name, double value, std::string note) {
  return {name, std::max<int64_t>(1, std::llround(value)), std::move(note)};
}

/// Cold reads of some sizes: MB/s of the largest, and all of them for people.
static absl::StatusOr<MeasuredProperty> measureRead(const Prober& prober, double stepNs) {
  constexpr int64_t depth = 4096;
  double mbPerS = 0;
  std::string sizes;
  for (int64_t megabytes : {1, 4, 16, 64}) {
    int64_t columns = megabytes * (1 << 20) / (4 * depth);
    TENON_ASSIGN_OR_RETURN(
        double ns, prober.timeGraph(productGraph(1, columns, depth, "f32"), Grouping::KernelEach));
    TENON_ASSIGN_OR_RETURN(double readNs, timeBeyond("a cold read", ns, stepNs));
    mbPerS = static_cast<double>(columns * depth * 4) / readNs * 1e3;
    sizes += absl::StrFormat("%s%d MiB %.1f", sizes.empty() ? "" : ", ", megabytes, mbPerS / 1e3);
  }
  return rounded("dram_mb_per_s", mbPerS,
                 "Matrix-vector products in f32 of weights that no cache holds, GB/s: " + sizes +
                     ".");
}

/// Sums in the caches of two sizes give the cost of a step with its barrier, which is returned, and
/// the rate of the caches: ns = step + bytes / rate.
static absl::StatusOr<double> measureRows(const Prober& prober,
                                          std::vector<MeasuredProperty>& measured) {
  constexpr int64_t few = 4, many = 16, columns = 4096; // a tile each row and more
  constexpr double rowBytes = 3.0 * 4 * columns;        // two reads and a write
  TENON_ASSIGN_OR_RETURN(double fewNs,
                         prober.timeGraph(sumGraph(few, columns, "f32"), Grouping::KernelEach));
  TENON_ASSIGN_OR_RETURN(double manyNs,
                         prober.timeGraph(sumGraph(many, columns, "f32"), Grouping::KernelEach));
  TENON_ASSIGN_OR_RETURN(double moreNs, timeBeyond("a longer sum", manyNs, fewNs));
  double bytesPerNs = (many - few) * rowBytes / moreNs;
  TENON_ASSIGN_OR_RETURN(double stepNs, timeBeyond("a step", fewNs, few * rowBytes / bytesPerNs));
  measured.push_back(rounded("step_ns", stepNs,
                             absl::StrFormat("Sums of [%d, 4096] and [%d, 4096] in f32 take %.0f "
                                             "and %.0f ns: what no bytes would take.",
                                             few, many, fewNs, manyNs)));
  measured.push_back(rounded("cache_mb_per_s", bytesPerNs * 1e3,
                             "What the larger takes more for its bytes, which the caches hold."));
  return stepNs;
}

static absl::StatusOr<MeasuredProperty> measureProduct(const Prober& prober, double stepNs) {
  constexpr int64_t side = 1024, chunk = 64;
  TENON_ASSIGN_OR_RETURN(double wholeNs, prober.timeGraph(productGraph(chunk, side, side, "f32"),
                                                          Grouping::KernelEach));
  TENON_ASSIGN_OR_RETURN(double productNs, timeBeyond("a product of 64 rows", wholeNs, stepNs));
  return rounded("f32_gflops", 2.0 * chunk * side * side / productNs,
                 "A product of 64 rows by [1024, 1024] in f32.");
}

absl::StatusOr<std::vector<MeasuredProperty>> calibrateCpu(TargetAttr base,
                                                           const CalibrationOptions& options) {
  Prober prober(base, options);
  int64_t cores = options.threads > 0 ? options.threads : std::thread::hardware_concurrency();
  std::vector<MeasuredProperty> measured = {{"cores", cores, "Threads that it was measured with."}};
  auto stepNs = static_cast<double>(base.getProperty("step_ns").value_or(0));
  absl::StatusOr<double> step = measureRows(prober, measured);
  if (step.ok()) {
    stepNs = *step;
  } else {
    if (!isNoise(step.status()))
      return step.status();
    for (const char* name : {"step_ns", "cache_mb_per_s"})
      options.onLeftOut(name);
  }
  for (auto [name, measure] :
       {std::pair("dram_mb_per_s", &measureRead), std::pair("f32_gflops", &measureProduct)}) {
    absl::StatusOr<MeasuredProperty> property = measure(prober, stepNs);
    if (property.ok())
      measured.push_back(*std::move(property));
    else if (isNoise(property.status()))
      options.onLeftOut(name);
    else
      return property.status();
  }
  return measured;
}

} // namespace tenon::tools
