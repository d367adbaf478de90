#include <iostream>
#include <thread>

#include "absl/strings/str_format.h"
#include "ir/Targets.h"
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/tenon/Command.h"
#include "llvm/TargetParser/Host.h"

namespace tenon::tools {

#ifdef TENON_CUDA
static void listGpus() {
  absl::StatusOr<std::vector<runtime::CudaDeviceInfo>> devices = runtime::listCudaDevices();
  if (!devices.ok() || devices->empty()) {
    std::cout << "cuda " << (devices.ok() ? "no device" : devices.status().message()) << "\n";
    return;
  }
  for (const runtime::CudaDeviceInfo& device : *devices)
    std::cout << absl::StrFormat(
        "cuda %s, compute capability %d.%d, %d multiprocessors, %.1f GiB, driver for CUDA %d.%d\n",
        device.name, device.capabilityMajor, device.capabilityMinor, device.multiprocessors,
        static_cast<double>(device.memoryBytes) / (1 << 30), device.driverVersion / 1000,
        device.driverVersion % 1000 / 10);
}
#endif

static absl::Status listDevices() {
  auto context = makeContext();
  std::cout << absl::StrFormat("cpu  %s, %d threads\n", llvm::sys::getHostCPUName().str(),
                               std::thread::hardware_concurrency());
  absl::StatusOr<TargetAttr> native = chooseTarget(*context, "native");
  std::cout << "     --target=native is "
            << (native.ok() ? native->getName().str() : std::string(native.status().message()))
            << "\n";
#ifdef TENON_CUDA
  listGpus();
#endif
  std::cout << "\ntargets";
  for (const std::string& name : listTargets())
    std::cout << " " << name;
  std::cout << "\n";
  return absl::OkStatus();
}

void addDevicesCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("devices", "List this machine's devices and the targets to compile for");
  command->callback([&action] { action = listDevices; });
}

} // namespace tenon::tools
