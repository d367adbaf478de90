#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "support/Status.h"
#include "tools/calibrate/Calibration.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/common/PointsFlag.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  std::string device = "cpu";
  std::string target = "native";
  std::string output;
  CalibrationOptions calibration;
};

absl::StatusOr<std::vector<MeasuredProperty>> measure(TargetAttr base,
                                                      const CalibrationOptions& options) {
  if (base.getDevice() == DeviceKind::Cpu)
    return calibrateCpu(base, options);
#ifdef TENON_CUDA
  return calibrateCuda(base, options);
#else
  return absl::UnimplementedError("calibrate: this build has no CUDA runtime");
#endif
}

std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm date{};
  ::gmtime_r(&now, &date);
  return absl::StrFormat("%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

absl::Status calibrate(const Options& options) {
  auto context = makeContext();
  TENON_ASSIGN_OR_RETURN(TargetAttr base, chooseTarget(*context, options.device, options.target));
  TENON_ASSIGN_OR_RETURN(std::string where, describeDevice(base));
  TENON_ASSIGN_OR_RETURN(std::vector<MeasuredProperty> measured,
                         measure(base, options.calibration));
  for (const MeasuredProperty& property : measured)
    std::cerr << absl::StrFormat("%-24s %14d, target %s says %14d\n", property.name, property.value,
                                 base.getName().str(), base.getProperty(property.name).value_or(0));
  std::string text = formatTarget(base, measured, where, today());
  if (options.output.empty()) {
    std::cout << text;
    return absl::OkStatus();
  }
  std::ofstream file(options.output, std::ios::binary);
  if (!(file << text << std::flush))
    return absl::InternalError(options.output + ": cannot write");
  return absl::OkStatus();
}

} // namespace

void addCalibrateCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure this machine's device and write what the cost model asks of a target");
  command->footer("tenon calibrate --device=cuda -o mine.target\n"
                  "tenon explain model.gguf --target=mine.target");
  command->add_option("--device", options->device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command
      ->add_option("--target", options->target,
                   "The target whose kernels are measured, and whose other properties are kept")
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "The target file to write (default: print it)");
  command->add_option("--rounds", options->calibration.rounds, "Samples of each measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--threads", options->calibration.threads, "CPU threads; 0 for every core")
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

} // namespace tenon::tools
