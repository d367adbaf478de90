#include <ctime>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/calibrate/Calibration.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/PointsFlag.h"
#include "tools/cli/Progress.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  std::string device = "auto";
  std::string target = "native";
  std::string output = "-";
  JsonFlag json;
  CalibrationOptions calibration;
};

absl::StatusOr<std::vector<MeasuredProperty>> measure(TargetAttr base,
                                                      const CalibrationOptions& options) {
  if (base.getDevice() == DeviceKind::Cpu)
    return calibrateCpu(base, options);
#ifdef TENON_CUDA
  return calibrateCuda(base, options);
#else
  return lacksPart("calibrate", "CUDA runtime");
#endif
}

absl::StatusOr<std::vector<MeasuredProperty>> measureShown(TargetAttr base,
                                                           const CalibrationOptions& options) {
  Progress progress("calibrating"); // clears its line before anything else is printed
  progress.showSeconds();
  return measure(base, options);
}

std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm date{};
  ::gmtime_r(&now, &date);
  return absl::StrFormat("%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

absl::Status calibrate(const Options& options) {
  TENON_RETURN_IF_ERROR(checkOutput(outputPath(options.output)));
  auto context = makeContext();
  TENON_ASSIGN_OR_RETURN(TargetAttr base, chooseTarget(*context, options.device, options.target));
  TENON_ASSIGN_OR_RETURN(std::string where, describeDevice(base));
  CalibrationOptions calibration = options.calibration;
  std::vector<std::string> leftOut;
  calibration.onLeftOut = [&](const std::string& property) { leftOut.push_back(property); };
  TENON_ASSIGN_OR_RETURN(std::vector<MeasuredProperty> measured, measureShown(base, calibration));
  for (const std::string& property : leftOut)
    std::cerr << "warning: left out: " << property
              << ": lost in the noise of other work on this machine\n";
  for (const MeasuredProperty& property : measured)
    std::cerr << absl::StrFormat("%-24s %14d, target %s says %14d\n", property.name, property.value,
                                 base.getName().str(), base.getProperty(property.name).value_or(0));
  std::string text = formatTarget(base, measured, where, today());
  nlohmann::ordered_json json = {{"target", base.getName().str()}, {"device", where}};
  for (const MeasuredProperty& property : measured)
    json["properties"][property.name] = property.value;
  TENON_RETURN_IF_ERROR(writeJson(options.json, json));
  return options.output == "-" && options.json.replacesText() ? absl::OkStatus()
                                                              : writeTextFile(options.output, text);
}

} // namespace

void addCalibrateCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure this machine's device and write what the cost model asks of a target");
  command->footer("tenon calibrate --device=cuda -o mine.target\n"
                  "tenon explain model.gguf --target=mine.target");
  command->add_option("--device", options->device, "auto (a GPU where there is one), cpu or cuda")
      ->check(oneOf({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command
      ->add_option("--target", options->target,
                   "The target whose kernels are measured, and whose other properties are kept")
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "The target file to write instead of standard output, -");
  addMeasureFlag(*command, options->calibration.rounds, "The device is measured in any case");
  addThreadsOption(*command, options->calibration.threads);
  addJsonFlag(*command, options->json, "one object: target, device, properties");
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

} // namespace tenon::tools
