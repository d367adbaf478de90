#include "tools/report/Provenance.h"

#include <ctime>
#include <fstream>

#include "absl/strings/str_format.h"
#include "support/SharedLibrary.h"
#include "tools/cli/Version.h"
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif

namespace tenon::tools {

using nlohmann::ordered_json;

namespace {

std::string dateNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                         utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// The value of the first line `key : value` of /proc/cpuinfo; empty where there is none.
std::string cpuInfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      if (size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "";
}

/// The clocks of the first GPU by NVML, which comes with the driver.
std::string gpuClocks() {
  const std::string paths[] = {"libnvidia-ml.so.1"};
  absl::StatusOr<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library.ok())
    return "unknown: no libnvidia-ml.so.1";
  int (*init)() = nullptr;
  int (*getDevice)(unsigned, void**) = nullptr;
  int (*getClock)(void*, int, unsigned*) = nullptr;
  void* device = nullptr;
  constexpr int multiprocessors = 1, memory = 2; // nvmlClockType_t
  unsigned multiprocessorMHz = 0, memoryMHz = 0;
  if (!library->find("nvmlInit_v2", init, "NVML").ok() ||
      !library->find("nvmlDeviceGetHandleByIndex_v2", getDevice, "NVML").ok() ||
      !library->find("nvmlDeviceGetClockInfo", getClock, "NVML").ok() || init() != 0 ||
      getDevice(0, &device) != 0 || getClock(device, multiprocessors, &multiprocessorMHz) != 0 ||
      getClock(device, memory, &memoryMHz) != 0)
    return "unknown: NVML does not say";
  return absl::StrFormat("%d MHz multiprocessors, %d MHz memory", multiprocessorMHz, memoryMHz);
}

void describeGpu(ordered_json& provenance) {
  provenance["device"] = "a GPU that the driver does not name";
  provenance["driver"] = "unknown";
#ifdef TENON_CUDA
  absl::StatusOr<std::vector<runtime::CudaDeviceInfo>> devices = runtime::listCudaDevices();
  if (devices.ok() && !devices->empty()) {
    provenance["device"] = devices->front().name;
    provenance["driver"] = absl::StrFormat("CUDA %d.%d", devices->front().driverVersion / 1000,
                                           devices->front().driverVersion % 1000 / 10);
  }
#endif
  provenance["clocks"] = gpuClocks();
}

void describeCpu(ordered_json& provenance) {
  std::string name = cpuInfo("model name"), megahertz = cpuInfo("cpu MHz");
  provenance["device"] = name.empty() ? "a CPU that /proc/cpuinfo does not name" : name;
  provenance["driver"] = "none";
  provenance["clocks"] = megahertz.empty() ? "unknown" : megahertz + " MHz";
}

} // namespace

ordered_json describeProvenance(const runtime::Program& program, const absl::Status& counted) {
  ordered_json provenance = {
      {"version", versionNumber()}, {"commit", versionCommit()}, {"date", dateNow()}};
  (program.device == "cuda" ? describeGpu : describeCpu)(provenance);
  provenance["target"] = program.target;
  provenance["counters"] =
      counted.ok()
          ? "CUPTI's range profiler: dram__bytes_read.sum, dram__bytes_write.sum of a call's "
            "steps, which run alone"
          : absl::StrFormat("none: %s; bytes are those that the plan's operations state",
                            std::string(counted.message()));
  return provenance;
}

} // namespace tenon::tools
