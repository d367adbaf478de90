#include "bench/fusion/CostFit.h"

#include <cmath>
#include <fstream>
#include <tuple>

#include "absl/strings/str_format.h"
#include "ir/Targets.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"

namespace tenon::bench {

/// The text fields and numbers of a line; throws nothing on any text.
static absl::StatusOr<nlohmann::json> parseLine(const std::string& line) {
  nlohmann::json object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  auto isTimed = [&](const char* plan) {
    return object.contains(plan) && object[plan].is_object() && object[plan].contains("ns") &&
           object[plan]["ns"].is_number() && object[plan]["ns"].get<double>() > 0 &&
           object[plan].contains("kernels") && object[plan]["kernels"].is_number_integer();
  };
  bool whole = object.is_object() && isTimed("fused") && isTimed("unfused");
  for (const char* name : {"chain", "type", "launch"})
    whole = whole && object.contains(name) && object[name].is_string();
  for (const char* name : {"rows", "hidden", "columns"})
    whole = whole && object.contains(name) && object[name].is_number_integer();
  if (!whole)
    return absl::InvalidArgumentError("expects an object of measure_fusion_points");
  return object;
}

absl::StatusOr<CostFit> CostFit::create(const std::string& path, const std::string& targetName) {
  CostFit fit;
  fit.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  fit.target = findTarget(fit.context.get(), targetName);
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    absl::StatusOr<nlohmann::json> object = parseLine(line);
    if (!object.ok())
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: %s", path, number, std::string(object.status().message())));
    const nlohmann::json& o = *object;
    FusionPoint point = {findChain(o["chain"]), {o["type"], o["rows"], o["hidden"], o["columns"]}};
    if (!point.chain)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: no chain is named %s", path, number, o["chain"].dump()));
    Scheduled scheduled = {point.name(),
                           point.chain->name,
                           launchModeOf(o["launch"]),
                           {o["fused"]["ns"], o["unfused"]["ns"]},
                           {}};
    for (auto [plan, name, module] :
         {std::tuple{passes::Plan::Fused, "fused", &scheduled.modules[0]},
          std::tuple{passes::Plan::Unfused, "unfused", &scheduled.modules[1]}}) {
      TENON_ASSIGN_OR_RETURN(PlannedPoint planned, planPoint(*fit.context, point, /*copies=*/1,
                                                             plan, fit.target, Phase::Scheduled));
      if (int64_t measured = o[name]["kernels"]; measured != planned.kernels)
        return absl::FailedPreconditionError(absl::StrFormat(
            "%s:%d: %s %s was measured as %d kernels, but is planned as %d: measure it again", path,
            number, scheduled.point, name, measured, planned.kernels));
      *module = std::move(planned.module);
    }
    fit.points.push_back(std::move(scheduled));
  }
  if (fit.points.empty())
    return absl::NotFoundError(path + ": expects measured points, but found none");
  return fit;
}

int64_t CostFit::property(const std::string& name) const {
  return target.getProperty(name).value_or(0);
}

absl::Status CostFit::setProperty(const std::string& name, int64_t value) {
  if (!target.getProperty(name))
    return absl::InvalidArgumentError("the target has no property " + name);
  mlir::NamedAttrList properties(target.getProperties());
  properties.set(name, mlir::IntegerAttr::get(mlir::IntegerType::get(context.get(), 64), value));
  target = TargetAttr::get(context.get(), target.getName(), target.getDevice(),
                           target.getFeatures(), properties.getDictionary(context.get()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PointTimes>> CostFit::predict() const {
  std::vector<PointTimes> all;
  for (const Scheduled& point : points) {
    PointTimes times = {point.point, point.chain, 0, 0, point.measured[0], point.measured[1]};
    TENON_ASSIGN_OR_RETURN(times.predictedFused,
                           bench::predict(*point.modules[0], target, point.mode));
    TENON_ASSIGN_OR_RETURN(times.predictedUnfused,
                           bench::predict(*point.modules[1], target, point.mode));
    all.push_back(std::move(times));
  }
  return all;
}

absl::StatusOr<double> CostFit::loss() const {
  constexpr double allowed = 0.15, beyond = 2, ofRegret = 10;
  TENON_ASSIGN_OR_RETURN(std::vector<PointTimes> times, predict());
  double sum = 0;
  auto add = [&](double predicted, double measured) {
    double error = std::abs(std::log(predicted / measured));
    sum += error + beyond * std::max(0.0, error - allowed);
  };
  for (const PointTimes& point : times) {
    add(point.predictedFused, point.measuredFused);
    add(point.predictedUnfused, point.measuredUnfused);
    sum += ofRegret * point.regret();
  }
  return sum / static_cast<double>(2 * times.size());
}

absl::Status CostFit::fit(const std::vector<std::string>& names) {
  TENON_ASSIGN_OR_RETURN(double least, loss());
  for (double factor : {1.5, 1.2, 1.08, 1.03})
    for (bool better = true; better;) {
      better = false;
      for (const std::string& name : names)
        for (double by : {factor, 1 / factor}) {
          int64_t before = property(name);
          auto value = std::max<int64_t>(1, std::llround(static_cast<double>(before) * by));
          if (value == before)
            value += by > 1 ? 1 : before > 1 ? -1 : 0;
          TENON_RETURN_IF_ERROR(setProperty(name, value));
          TENON_ASSIGN_OR_RETURN(double now, loss());
          if (now < least * (1 - 1e-4)) {
            least = now, better = true;
            continue;
          }
          TENON_RETURN_IF_ERROR(setProperty(name, before));
        }
    }
  return absl::OkStatus();
}

absl::StatusOr<std::string> replaceProperties(std::string text,
                                              const std::map<std::string, int64_t>& values) {
  for (const auto& [name, value] : values) {
    std::string begin = "  " + name + " = ";
    size_t at = text.find(begin);
    if (at == std::string::npos)
      return absl::InvalidArgumentError("the target file holds no property " + name);
    at += begin.size();
    text.replace(at, text.find(" : i64", at) - at, std::to_string(value));
  }
  return text;
}

} // namespace tenon::bench
