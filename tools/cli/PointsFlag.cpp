#include "tools/cli/PointsFlag.h"

#include <filesystem>
#include <thread>

#include "absl/strings/str_format.h"
#include "support/CacheFolder.h"
#include "support/Status.h"
#include "support/Warning.h"
#include "tools/driver/BuildParts.h"
#include "llvm/TargetParser/Host.h"
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif

namespace tenon::tools {

namespace fs = std::filesystem;
using passes::cost::MeasuredPoints;

void addPointsFlag(CLI::App& command, std::string& points, FlagRules& rules) {
  rules.require(command.add_option(
                    "--points", points,
                    "A database of measured times, which the cost model prefers to its own (see "
                    "`explain --measure`); none for none (default: points.sqlite in the cache "
                    "folder, where there is one)"),
                {Need::Code});
}

#ifdef TENON_CUDA
static absl::StatusOr<std::string> describeGpu() {
  TENON_ASSIGN_OR_RETURN(std::vector<runtime::CudaDeviceInfo> gpus, runtime::listCudaDevices());
  if (gpus.empty())
    return absl::NotFoundError("this machine shows no CUDA device to measure on");
  const runtime::CudaDeviceInfo& gpu = gpus.front();
  return absl::StrFormat("%s, driver for CUDA %d.%d", gpu.name, gpu.driverVersion / 1000,
                         gpu.driverVersion % 1000 / 10);
}
#else
static absl::StatusOr<std::string> describeGpu() {
  return lacksPart("measured times of a GPU", "CUDA runtime");
}
#endif

absl::StatusOr<std::string> describeDevice(TargetAttr target) {
  if (target.getDevice() == DeviceKind::Cuda)
    return describeGpu();
  return absl::StrFormat("%s, %d threads", llvm::sys::getHostCPUName().str(),
                         std::thread::hardware_concurrency());
}

static std::string pathOf(const std::string& flag) {
  if (!flag.empty())
    return flag;
  std::string folder = cacheFolder();
  return folder.empty() ? "" : folder + "/points.sqlite";
}

static std::string launchOf(TargetAttr target, const std::string& launch) {
  return target.getDevice() == DeviceKind::Cuda ? launch : "none";
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>>
findPoints(const std::string& flag, TargetAttr target, const std::string& launch) {
  std::string path = pathOf(flag);
  std::error_code ignored;
  bool exists = fs::exists(path, ignored);
  if (flag == "none" || (flag.empty() && !exists))
    return nullptr;
  if (!exists)
    return absl::NotFoundError(
        absl::StrFormat("--points: expects a database of measured times, but %s is no file", path));
  absl::StatusOr<std::string> device = describeDevice(target);
  auto points = MeasuredPoints::open(
      path, {target.getName().str(), device.value_or(""), launchOf(target, launch)});
  if (points.ok() || !flag.empty())
    return points;
  warnOnce(std::string(points.status().message()) + "; no times are taken from it");
  return nullptr;
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>>
openPoints(const std::string& flag, TargetAttr target, const std::string& launch) {
  std::string path = pathOf(flag);
  if (flag == "none")
    return absl::InvalidArgumentError(
        "--points: expects a file to keep measured times in, but got none");
  if (path.empty())
    return absl::InvalidArgumentError(
        "--points: expects a file for measured times, since there is no cache folder for one");
  TENON_ASSIGN_OR_RETURN(std::string device, describeDevice(target));
  if (flag.empty())
    makePrivateFolder(fs::path(path).parent_path()); // opening the file says what is wrong
  return MeasuredPoints::openToAdd(path,
                                   {target.getName().str(), device, launchOf(target, launch)});
}

} // namespace tenon::tools
