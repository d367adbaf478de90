#include <cmath>
#include <limits>

#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

static double widen(int64_t value) { return static_cast<double>(value); }

/// To nearest, ties to even; saturates at the ends of the range, NaN becomes 0.
static int64_t roundToInt(double value) {
  using Limits = std::numeric_limits<int64_t>;
  constexpr double end = 0x1p63;
  if (std::isnan(value))
    return 0;
  double rounded = std::nearbyint(value);
  if (rounded <= -end)
    return Limits::min();
  if (rounded >= end)
    return Limits::max();
  return static_cast<int64_t>(rounded);
}

static int64_t roundF32ToInt(float value) { return roundToInt(value); }

extern const Encoding i64;
constinit const Encoding i64 = {
    .name = "i64",
    .blockSize = 1,
    .blockBytes = 8,
    .ggufType = 27,
    .decode = decodePlain<int64_t, widen>,
    .encode = encodePlain<double, roundToInt>,
    .encodeF32 = encodePlain<float, roundF32ToInt>,
};

} // namespace tenon::encodings
