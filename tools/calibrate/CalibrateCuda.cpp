#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"
#include "runtime/cuda/Devices.h"
#include "support/Status.h"
#include "tools/calibrate/Calibration.h"
#include "tools/calibrate/CudaProbes.h"
#include "tools/calibrate/Probe.h"

namespace tenon::tools {

namespace {

/// Measures one GPU; properties are added in the order of the functions.
class CudaCalibrator {
public:
  CudaCalibrator(TargetAttr base, const CalibrationOptions& options)
      : base(base), options(options), prober(base, options),
        isHopper(base.getProperty("wgmma_percent").has_value()) {}

  absl::StatusOr<std::vector<MeasuredProperty>> calibrate();

private:
  absl::Status readLimits();
  absl::Status measureLaunches();
  absl::Status measureReads();
  absl::Status measureCopy();
  absl::Status measureRates();

  void add(const char* name, double value, std::string note) {
    measured.push_back({name, std::max<int64_t>(1, std::llround(value)), std::move(note)});
  }

  bool has(std::string_view name) const {
    return std::ranges::any_of(
        measured, [&](const MeasuredProperty& property) { return property.name == name; });
  }

  TargetAttr base;
  CalibrationOptions options;
  Prober prober;
  bool isHopper; ///< own products of many rows are then those of hopper_gemm
  std::vector<MeasuredProperty> measured;
};

} // namespace

absl::Status CudaCalibrator::readLimits() {
  TENON_ASSIGN_OR_RETURN(runtime::CudaDeviceLimits limits, runtime::readCudaLimits(0));
  add("sms", limits.multiprocessors, "As the driver says.");
  add("l2_bytes", limits.l2Bytes, "");
  add("smem_bytes_per_block", limits.sharedBytesPerBlock, "");
  add("smem_bytes_per_sm", limits.sharedBytesPerMultiprocessor, "");
  add("registers_per_sm", limits.registersPerMultiprocessor, "");
  add("threads_per_sm", limits.threadsPerMultiprocessor, "");
  add("blocks_per_sm", limits.blocksPerMultiprocessor, "");
  add("dram_bytes", static_cast<double>(limits.memoryBytes), "");
  return absl::OkStatus();
}

absl::Status CudaCalibrator::measureLaunches() {
  struct Mode {
    const char *launch, *property, *note;
  };
  int64_t blocks = base.getProperty("sms").value_or(1);
  for (const Mode& mode :
       {Mode{"stream", "launch_stream_ns",
             "An empty kernel of a block a multiprocessor, one after "
             "the other: in a stream, as nodes of a graph, as nodes "
             "with programmatic dependent launch."},
        Mode{"graph", "launch_graph_ns", ""}, Mode{"graph-pdl", "launch_graph_pdl_ns", ""}}) {
    if (!base.getProperty(mode.property))
      continue;
    constexpr int64_t expectedNs = 3'000;
    TENON_ASSIGN_OR_RETURN(runtime::Program program, makeEmptyProbe(base, blocks));
    TENON_ASSIGN_OR_RETURN(double ns,
                           prober.timeProgram(std::move(program), 0, expectedNs, mode.launch));
    add(mode.property, ns, mode.note);
  }
  return absl::OkStatus();
}

/// What the rate and the beginning of a cold read are: the line through the two largest sizes, and
/// what the others take beyond it.
absl::Status CudaCalibrator::measureReads() {
  std::vector<std::pair<double, double>> points; // bytes, ns
  std::string sizes;
  for (int64_t megabytes : {16, 32, 64, 128, 512, 2048}) {
    int64_t bytes = megabytes * 1'000'000;
    constexpr int64_t mbPerNs = 250; // about a nanosecond each 4,000 bytes
    TENON_ASSIGN_OR_RETURN(runtime::Program program, makeReadProbe(base, bytes));
    TENON_ASSIGN_OR_RETURN(double ns,
                           prober.timeProgram(std::move(program), bytes, megabytes * mbPerNs));
    points.emplace_back(static_cast<double>(bytes), ns);
    sizes += absl::StrFormat("%s%d MB %.0f", sizes.empty() ? "" : ", ", megabytes,
                             static_cast<double>(bytes) / ns);
  }
  auto [bytes, ns] = points.back();
  auto [fewer, shorter] = points.end()[-2];
  TENON_ASSIGN_OR_RETURN(double moreNs, timeBeyond("a longer read", ns, shorter));
  double mbPerS = (bytes - fewer) / moreNs * 1e3;
  double ramp = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i)
    ramp += (points[i].second - points[i].first / mbPerS * 1e3) / double(points.size() - 1);
  add("dram_mb_per_s", mbPerS,
      "What 512 MB more take, read once by loads of 16 bytes. Cold reads "
      "in all, GB/s: " +
          sizes + ".");
  add("read_ramp_ns", ramp, "What those sizes take beyond bytes / dram_mb_per_s, on average.");
  return absl::OkStatus();
}

absl::Status CudaCalibrator::measureCopy() {
  constexpr int64_t bytes = 1'000'000'000, expectedNs = 250'000;
  TENON_ASSIGN_OR_RETURN(runtime::Program program, makeCopyProbe(base, bytes));
  TENON_ASSIGN_OR_RETURN(double ns, prober.timeProgram(std::move(program), bytes, expectedNs));
  add("copy_mb_per_s", bytes / ns * 1e3, "A copy of 500 MB, read and write together.");
  return absl::OkStatus();
}

absl::Status CudaCalibrator::measureRates() {
  constexpr int64_t side = 8192, smaller = 4096;
  constexpr double flops = 2.0 * side * side * side;
  constexpr int64_t expectedNs = 1'500'000;
  TENON_ASSIGN_OR_RETURN(double libraryNs, prober.timeProgram(makeLibraryProbe(base, side),
                                                              2 * side * side * 2, expectedNs));
  double rate = flops / libraryNs;
  add("tensor_16bit_gflops", rate, "A bf16 product of 8192³ by cuBLASLt on random data.");
  TENON_ASSIGN_OR_RETURN(
      double ownNs,
      prober.timeGraph(productGraph(smaller, smaller, smaller, "bf16"), Grouping::OwnKernelEach));
  // On Hopper that kernel is hopper_gemm; kernels of few rows keep what was fitted.
  add(isHopper ? "wgmma_percent" : "mma_percent",
      100 * 2.0 * smaller * smaller * smaller / ownNs / rate,
      "A bf16 product of 4096³ by Tenon's own kernel, of that rate.");
  int64_t fmaFlops = 0;
  TENON_ASSIGN_OR_RETURN(runtime::Program program, makeFmaProbe(base, &fmaFlops));
  constexpr int64_t fmaExpectedNs = 300'000;
  TENON_ASSIGN_OR_RETURN(double fmaNs, prober.timeProgram(std::move(program), 0, fmaExpectedNs));
  add("f32_gflops", static_cast<double>(fmaFlops) / fmaNs, "Fused multiply-adds in registers.");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MeasuredProperty>> CudaCalibrator::calibrate() {
  struct Measurement {
    absl::Status (CudaCalibrator::*measure)();
    std::vector<const char*> properties;
  };
  TENON_RETURN_IF_ERROR(readLimits());
  for (const Measurement& next :
       {Measurement{&CudaCalibrator::measureLaunches,
                    {"launch_stream_ns", "launch_graph_ns", "launch_graph_pdl_ns"}},
        Measurement{&CudaCalibrator::measureReads, {"dram_mb_per_s", "read_ramp_ns"}},
        Measurement{&CudaCalibrator::measureCopy, {"copy_mb_per_s"}},
        Measurement{
            &CudaCalibrator::measureRates,
            {"tensor_16bit_gflops", isHopper ? "wgmma_percent" : "mma_percent", "f32_gflops"}}}) {
    absl::Status status = (this->*next.measure)();
    if (!isNoise(status))
      TENON_RETURN_IF_ERROR(status);
    for (const char* name : next.properties)
      if (base.getProperty(name) && !has(name))
        options.onLeftOut(name);
  }
  return measured;
}

absl::StatusOr<std::vector<MeasuredProperty>> calibrateCuda(TargetAttr base,
                                                            const CalibrationOptions& options) {
  return CudaCalibrator(base, options).calibrate();
}

} // namespace tenon::tools
