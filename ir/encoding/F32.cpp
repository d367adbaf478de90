#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

static double widen(float value) { return value; }
static float narrow(double value) { return static_cast<float>(value); }
static float keep(float value) { return value; }

extern const Encoding f32;
constinit const Encoding f32 = {
    .name = "f32",
    .blockSize = 1,
    .blockBytes = 4,
    .ggufType = 0,
    .decode = decodePlain<float, widen>,
    .encode = encodePlain<double, narrow>,
    .encodeF32 = encodePlain<float, keep>,
};

} // namespace tenon::encodings
