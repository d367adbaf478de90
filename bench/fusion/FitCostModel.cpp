// Compares the cost model with measured points (`measure_fusion_points`), and fits properties of the
// target to them.
#include <fstream>
#include <iostream>
#include <sstream>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "bench/fusion/CostFit.h"
#include "support/OutputFile.h"
#include "support/Status.h"

namespace tenon::bench {
namespace {

struct Options {
  std::string points, target = "h200", targetFile;
  std::vector<std::string> fit;
  bool list = false;
};

void printPoints(const std::vector<PointTimes>& points) {
  for (const PointTimes& p : points)
    std::cout << absl::StrFormat(
        "%-42s fused %8.2f measured %8.2f  unfused %8.2f measured %8.2f%s\n", p.point,
        p.predictedFused / 1e3, p.measuredFused / 1e3, p.predictedUnfused / 1e3,
        p.measuredUnfused / 1e3,
        p.regret() > 0 ? absl::StrFormat("  regret %.1f %%", 100 * p.regret()) : "");
}

absl::Status writeTarget(const Options& options, const CostFit& fit) {
  std::ifstream in(options.targetFile);
  std::ostringstream text;
  text << in.rdbuf();
  std::map<std::string, int64_t> values;
  for (const std::string& name : options.fit)
    values[name] = fit.property(name);
  TENON_ASSIGN_OR_RETURN(std::string replaced, replaceProperties(text.str(), values));
  return writeFile(options.targetFile, replaced);
}

absl::Status run(const Options& options) {
  TENON_ASSIGN_OR_RETURN(CostFit fit, CostFit::create(options.points, options.target));
  if (!options.fit.empty()) {
    TENON_RETURN_IF_ERROR(fit.fit(options.fit));
    for (const std::string& name : options.fit)
      std::cout << absl::StrFormat("%s = %d\n", name, fit.property(name));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<PointTimes> points, fit.predict());
  if (options.list)
    printPoints(points);
  std::cout << formatTable(points);
  return options.targetFile.empty() ? absl::OkStatus() : writeTarget(options, fit);
}

} // namespace
} // namespace tenon::bench

int main(int count, char** arguments) {
  tenon::bench::Options options;
  CLI::App app("Compares the cost model with measured points and fits a target to them");
  app.add_option("points", options.points, "What measure_fusion_points has written")->required();
  app.add_option("--target", options.target, "Whose properties")->capture_default_str();
  app.add_option("--fit", options.fit, "Properties to fit")->delimiter(',');
  app.add_option("--write", options.targetFile, "The target file to write the fitted ones into");
  app.add_flag("--list", options.list, "Every point, too");
  CLI11_PARSE(app, count, arguments);
  absl::Status status = tenon::bench::run(options);
  if (!status.ok())
    std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
