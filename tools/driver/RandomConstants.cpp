#include "tools/driver/RandomConstants.h"

#include <cmath>
#include <numbers>

#include "absl/strings/str_format.h"
#include "runtime/program/RandomValues.h"
#include "support/Status.h"

namespace tenon::tools {

using runtime::Constant;
using runtime::FileRange;
using runtime::RandomRange;

static uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

/// Values spread evenly over [mean - scale, mean + scale) have a deviation of scale / sqrt(3).
static float scaleFor(double deviation) {
  return static_cast<float>(deviation * std::numbers::sqrt3);
}

static RandomRange describeValues(const Constant& constant, uint64_t seed) {
  RandomRange range{.bytes = constant.bytes, .seed = seed + hashName(constant.name)};
  if (constant.shape.size() > 1) {
    range.scale = scaleFor(1 / std::sqrt(static_cast<double>(constant.shape.back())));
  } else if (constant.name.ends_with(".bias")) {
    range.scale = scaleFor(0.02);
  } else {
    range.mean = 1;
    range.scale = scaleFor(0.05);
  }
  return range;
}

absl::Status randomizeConstants(runtime::Program& program, uint64_t seed) {
  for (Constant& constant : program.constants) {
    if (!std::holds_alternative<std::vector<FileRange>>(constant.source))
      continue;
    if (runtime::randomUnitBytes(constant.encoding) == 0)
      return absl::InvalidArgumentError(absl::StrFormat(
          "random weights: '%s' expects an encoding that random values have, but got %s",
          constant.name, constant.encoding));
    constant.source = std::vector<RandomRange>{describeValues(constant, seed)};
    constant.transposed = false;
  }
  program.files.clear();
  return absl::OkStatus();
}

} // namespace tenon::tools
