#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Plain.h"

namespace tenon::encodings {

extern const Encoding f16;
constinit const Encoding f16 = {
    .name = "f16",
    .blockSize = 1,
    .blockBytes = 2,
    .ggufType = 1,
    .decode = decodePlain<uint16_t, f16ToF32>,
    .encode = encodePlain<double, f64ToF16>,
    .encodeF32 = encodePlain<float, f32ToF16>,
};

} // namespace tenon::encodings
