#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

static double widen(uint8_t value) { return value != 0; }

/// 0 or 1: as NumPy and PyTorch make a truth of a number, NaN is true.
static uint8_t truthOf(double value) { return value != 0; }
static uint8_t truthOfF32(float value) { return value != 0; }

extern const Encoding i1;
constinit const Encoding i1 = {
    .name = "bool",
    .blockSize = 1,
    .blockBytes = 1,
    .ggufType = -1,
    .decode = decodePlain<uint8_t, widen>,
    .encode = encodePlain<double, truthOf>,
    .encodeF32 = encodePlain<float, truthOfF32>,
};

} // namespace tenon::encodings
