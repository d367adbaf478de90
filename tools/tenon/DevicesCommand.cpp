#include <iostream>
#include <thread>

#include "absl/strings/str_format.h"
#include "ir/Targets.h"
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/tenon/Command.h"
#include "llvm/TargetParser/Host.h"

namespace tenon::tools {

static absl::Status listDevices() {
  auto context = makeContext();
  std::cout << absl::StrFormat("cpu  %s, %d threads\n", llvm::sys::getHostCPUName().str(),
                               std::thread::hardware_concurrency());
  absl::StatusOr<TargetAttr> native = chooseTarget(*context, "native");
  std::cout << "     --target=native is "
            << (native.ok() ? native->getName().str() : std::string(native.status().message()))
            << "\n\ntargets";
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
