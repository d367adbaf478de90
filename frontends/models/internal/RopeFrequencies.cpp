#include "frontends/models/internal/RopeFrequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

/// The context that the model was trained for before its rotation was scaled.
static absl::StatusOr<int64_t> readOriginalContext(const ModelSource& source,
                                                   const Hyperparameters& p) {
  return source.count("rope.scaling.original_context_length", int64_t(1) << 40, p.contextLength);
}

/// The name of the tensor of divisors, or nothing where the file has none.
static absl::StatusOr<std::string_view>
chooseFactors(const ModelSource& source, const Hyperparameters& p, int64_t contextLength) {
  if (source.hasTensor(ropeFactorsTensor))
    return ropeFactorsTensor;
  if (!source.hasTensor(longRopeFactorsTensor) && !source.hasTensor(shortRopeFactorsTensor))
    return "";
  TENON_ASSIGN_OR_RETURN(int64_t original, readOriginalContext(source, p));
  return contextLength > original ? longRopeFactorsTensor : shortRopeFactorsTensor;
}

/// The divisors of the tensor of that name, or ones.
static absl::StatusOr<std::vector<double>> readFactors(const ModelSource& source,
                                                       std::string_view name, int64_t pairs) {
  std::vector<double> factors(pairs, 1.0);
  if (name.empty())
    return factors;
  TENON_ASSIGN_OR_RETURN(const SourceTensor* tensor,
                         source.requireTensor(name, std::span(&pairs, 1)));
  tensor->encoding->decode(source.data(*tensor), factors);
  for (double factor : factors)
    if (!std::isfinite(factor) || factor <= 0)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: tensor '%s' expects finite numbers above 0, but got %g",
                          source.pathOf(*tensor), name, factor));
  return factors;
}

/// The factor of `rope.scaling.factor` or its older name; 1 where none is stated.
static absl::StatusOr<double> readScalingFactor(const ModelSource& source) {
  if (source.has("rope.scaling.factor"))
    return source.numberAbove(0, "rope.scaling.factor");
  return source.numberAbove(0, "rope.scale_linear", 1.0);
}

/// YaRN's numbers, as metadata state them.
struct YarnParameters {
  double factor;
  double originalContext;
  double betaFast;
  double betaSlow;
  double extrapolation; ///< how much of the ramp counts; 1 in the paper
  double magnitude;
  double logMultiplier; ///< of the parameters
  double base;
  bool truncates; ///< whether the ramp begins and ends at whole pairs
};

static absl::StatusOr<YarnParameters> readYarn(const ModelSource& source, const Hyperparameters& p,
                                               double factor, double base, bool truncates) {
  YarnParameters yarn{};
  yarn.truncates = truncates;
  yarn.logMultiplier = p.yarnLogMultiplier;
  if (source.has("rope.scaling.yarn_truncate")) {
    TENON_ASSIGN_OR_RETURN(yarn.truncates, source.flag("rope.scaling.yarn_truncate"));
  }
  yarn.factor = factor;
  yarn.base = base;
  TENON_ASSIGN_OR_RETURN(yarn.originalContext, readOriginalContext(source, p));
  TENON_ASSIGN_OR_RETURN(yarn.betaFast, source.numberAbove(0, "rope.scaling.yarn_beta_fast", 32.0));
  TENON_ASSIGN_OR_RETURN(yarn.betaSlow, source.numberAbove(0, "rope.scaling.yarn_beta_slow", 1.0));
  TENON_ASSIGN_OR_RETURN(yarn.extrapolation,
                         source.numberAbove(0, "rope.scaling.yarn_ext_factor", 1.0));
  TENON_ASSIGN_OR_RETURN(yarn.magnitude,
                         source.numberAbove(0, "rope.scaling.yarn_attn_factor", 1.0));
  return yarn;
}

/// Blends scaled and unscaled frequencies.
static void applyYarn(const YarnParameters& yarn, RopeFrequencies& frequencies) {
  double dimensions = 2.0 * static_cast<double>(frequencies.inverse.size());
  // The pair that turns `rotations` times in the original context.
  auto pairAt = [&](double rotations) {
    return dimensions * std::log(yarn.originalContext / (rotations * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(yarn.base));
  };
  double low = pairAt(yarn.betaFast), high = pairAt(yarn.betaSlow);
  if (yarn.truncates)
    low = std::floor(low), high = std::ceil(high);
  low = std::max(0.0, low), high = std::min(dimensions - 1.0, high);
  for (size_t pair = 0; pair < frequencies.inverse.size(); ++pair) {
    double ramp = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
    double unscaled = (1.0 - std::clamp(ramp, 0.0, 1.0)) * yarn.extrapolation;
    double inverse = frequencies.inverse[pair];
    frequencies.inverse[pair] =
        static_cast<float>(inverse / yarn.factor * (1.0 - unscaled) + inverse * unscaled);
  }
  const double logFactor = 0.1 * std::log(yarn.factor);
  frequencies.magnitude *=
      yarn.magnitude * (1.0 + logFactor) / (1.0 + yarn.logMultiplier * logFactor);
}

/// Pair `pair` of `pairs` turns so far a position.
static double turnOf(double base, int64_t pair, int64_t pairs) {
  return std::pow(base, -static_cast<double>(pair) / static_cast<double>(pairs));
}

absl::StatusOr<RopeFrequencies>
readRopeFrequencies(const ModelSource& source, const Hyperparameters& parameters,
                    int64_t contextLength, std::optional<double> windowedBase, bool truncatesYarn) {
  int64_t pairs = parameters.rotarySize / 2;
  TENON_ASSIGN_OR_RETURN(double base, source.numberAbove(1, "rope.freq_base", 10000.0));
  TENON_ASSIGN_OR_RETURN(std::string_view tensor, chooseFactors(source, parameters, contextLength));
  TENON_ASSIGN_OR_RETURN(std::vector<double> factors, readFactors(source, tensor, pairs));
  TENON_ASSIGN_OR_RETURN(std::string_view type, source.text("rope.scaling.type", "linear"));
  TENON_ASSIGN_OR_RETURN(double factor, readScalingFactor(source));
  RopeFrequencies frequencies;
  TENON_ASSIGN_OR_RETURN(frequencies.magnitude,
                         source.numberAbove(0, "rope.scaling.attn_factor", 1.0));
  double divisor = type == "linear" ? factor : 1.0;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    frequencies.inverse.push_back(
        static_cast<float>(turnOf(base, pair, pairs) / factors[pair] / divisor));
  }
  if (type == "yarn") {
    TENON_ASSIGN_OR_RETURN(YarnParameters yarn,
                           readYarn(source, parameters, factor, base, truncatesYarn));
    applyYarn(yarn, frequencies);
  } else if (type != "linear" && type != "none" && type != "longrope") {
    return source.keyError("rope.scaling.type", "'none', 'linear', 'longrope' or 'yarn'",
                           quoteName(type));
  }
  if (!windowedBase)
    return frequencies;
  TENON_ASSIGN_OR_RETURN(double ofWindows,
                         source.numberAbove(1, "rope.freq_base_swa", windowedBase));
  for (int64_t pair = 0; pair < pairs; ++pair)
    frequencies.windowedInverse.push_back(static_cast<float>(turnOf(ofWindows, pair, pairs)));
  return frequencies;
}

} // namespace tenon::frontends
