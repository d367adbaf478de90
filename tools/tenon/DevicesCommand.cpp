#include <iostream>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "ir/Targets.h"
#include "nlohmann/json.hpp"
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif
#include "tools/cli/JsonFlag.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/tenon/Command.h"
#include "llvm/TargetParser/Host.h"

namespace tenon::tools {

using Json = nlohmann::ordered_json;

#ifdef TENON_CUDA
static Json describeGpus() {
  absl::StatusOr<std::vector<runtime::CudaDeviceInfo>> devices = runtime::listCudaDevices();
  if (!devices.ok() || devices->empty())
    return {{"none", devices.ok() ? "no device" : devices.status().message()}};
  Json list = Json::array();
  for (const runtime::CudaDeviceInfo& device : *devices)
    list.push_back(
        {{"name", device.name},
         {"capability", absl::StrFormat("%d.%d", device.capabilityMajor, device.capabilityMinor)},
         {"multiprocessors", device.multiprocessors},
         {"memory_bytes", device.memoryBytes},
         {"driver", absl::StrFormat("%d.%d", device.driverVersion / 1000,
                                    device.driverVersion % 1000 / 10)}});
  return list;
}
#else
static Json describeGpus() { return {{"none", "this build has no CUDA runtime"}}; }
#endif

static std::string nameOfTarget(mlir::MLIRContext& context, const std::string& target) {
  absl::StatusOr<TargetAttr> found = chooseTarget(context, target);
  return found.ok() ? found->getName().str() : std::string(found.status().message());
}

static Json describeMachine() {
  auto context = makeContext();
  return {{"cpu", llvm::sys::getHostCPUName().str()},
          {"threads", std::thread::hardware_concurrency()},
          {"cpu_target", nameOfTarget(*context, "cpu")},
          {"cuda", describeGpus()},
          {"native_target", nameOfTarget(*context, "native")},
          {"targets", listTargets()}};
}

static std::string textOf(const Json& value) { return value.get<std::string>(); }

static void printMachine(const Json& machine) {
  std::cout << absl::StrFormat("cpu  %s, %d threads, --target=cpu is %s\n", textOf(machine["cpu"]),
                               machine["threads"].get<int>(), textOf(machine["cpu_target"]));
  const Json& gpus = machine["cuda"];
  if (gpus.contains("none"))
    std::cout << "cuda " << textOf(gpus["none"]) << "\n";
  else
    for (const Json& gpu : gpus)
      std::cout << absl::StrFormat(
          "cuda %s, compute capability %s, %d multiprocessors, %.1f GiB, driver for CUDA %s\n",
          textOf(gpu["name"]), textOf(gpu["capability"]), gpu["multiprocessors"].get<int>(),
          gpu["memory_bytes"].get<double>() / (1 << 30), textOf(gpu["driver"]));
  std::cout << "     --target=native is " << textOf(machine["native_target"]) << "\n\ntargets";
  for (const Json& name : machine["targets"])
    std::cout << " " << textOf(name);
  std::cout << "\n";
}

void addDevicesCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("devices", "List this machine's devices and the targets to compile for");
  auto json = std::make_shared<JsonFlag>();
  addJsonFlag(
      *command, *json,
      "one object: cpu, threads, cpu_target, cuda (a list, or none and why), native_target, "
      "targets");
  command->callback([json, &action] {
    action = [json] {
      Json machine = describeMachine();
      if (!json->replacesText())
        printMachine(machine);
      return writeJson(*json, machine);
    };
  });
}

} // namespace tenon::tools
