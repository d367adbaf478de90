#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

extern const Encoding bf16;
constinit const Encoding bf16 = {
    .name = "bf16",
    .blockSize = 1,
    .blockBytes = 2,
    .ggufType = 30,
    .decode = decodePlain<uint16_t, bf16ToF32>,
    .encode = encodePlain<double, f64ToBf16>,
    .encodeF32 = encodePlain<float, f32ToBf16>,
};

} // namespace tenon::encodings
