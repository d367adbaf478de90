#include <cmath>
#include <limits>

#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

static double widen(int32_t value) { return value; }

/// To nearest, ties to even; saturates at the ends of the range, NaN becomes 0.
static int32_t roundToInt(double value) {
  using Limits = std::numeric_limits<int32_t>;
  if (std::isnan(value))
    return 0;
  double rounded = std::nearbyint(value);
  if (rounded <= Limits::min())
    return Limits::min();
  if (rounded >= Limits::max())
    return Limits::max();
  return static_cast<int32_t>(rounded);
}

static int32_t roundF32ToInt(float value) { return roundToInt(value); }

extern const Encoding i32;
constinit const Encoding i32 = {
    .name = "i32",
    .blockSize = 1,
    .blockBytes = 4,
    .ggufType = 26,
    .decode = decodePlain<int32_t, widen>,
    .encode = encodePlain<double, roundToInt>,
    .encodeF32 = encodePlain<float, roundF32ToInt>,
};

} // namespace tenon::encodings
