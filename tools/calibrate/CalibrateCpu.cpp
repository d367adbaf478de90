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
  for (int64_t megabytes : {1, 4, 16, 64, 256}) {
    int64_t columns = megabytes * (1 << 20) / (4 * depth);
    TENON_ASSIGN_OR_RETURN(
        double ns, prober.timeGraph(productGraph(1, columns, depth, "f32"), Grouping::KernelEach));
    mbPerS = static_cast<double>(columns * depth * 4) / std::max(1.0, ns - stepNs) * 1e3;
    sizes += absl::StrFormat("%s%d MiB %.1f", sizes.empty() ? "" : ", ", megabytes, mbPerS / 1e3);
  }
  return rounded("dram_mb_per_s", mbPerS,
                 "Matrix-vector products in f32 of weights that no cache holds, GB/s: " + sizes +
                     ".");
}

absl::StatusOr<std::vector<MeasuredProperty>> calibrateCpu(TargetAttr base,
                                                           const CalibrationOptions& options) {
  Prober prober(base, options);
  int64_t cores = options.threads > 0 ? options.threads : std::thread::hardware_concurrency();
  std::vector<MeasuredProperty> measured = {{"cores", cores, "Threads that it was measured with."}};
  TENON_ASSIGN_OR_RETURN(double stepNs,
                         prober.timeGraph(sumGraph(1, 16, "f32"), Grouping::KernelEach));
  measured.push_back(rounded("step_ns", stepNs, "A sum of 16 elements: a step and its barrier."));
  TENON_ASSIGN_OR_RETURN(MeasuredProperty read, measureRead(prober, stepNs));
  measured.push_back(std::move(read));

  constexpr int64_t rows = 16, columns = 4096;
  TENON_ASSIGN_OR_RETURN(double sumNs,
                         prober.timeGraph(sumGraph(rows, columns, "f32"), Grouping::KernelEach));
  measured.push_back(
      rounded("cache_mb_per_s", 3.0 * 4 * rows * columns / std::max(1.0, sumNs - stepNs) * 1e3,
              "A sum of [16, 4096] in f32, which the caches hold: two reads and a write."));

  constexpr int64_t side = 1024, chunk = 64;
  TENON_ASSIGN_OR_RETURN(double productNs, prober.timeGraph(productGraph(chunk, side, side, "f32"),
                                                            Grouping::KernelEach));
  measured.push_back(rounded("f32_gflops",
                             2.0 * chunk * side * side / std::max(1.0, productNs - stepNs),
                             "A product of 64 rows by [1024, 1024] in f32."));
  return measured;
}

} // namespace tenon::tools
