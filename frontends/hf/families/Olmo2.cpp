#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily olmo2Family;
constexpr HfFamily olmo2Family = {
    .modelType = "olmo2",
    .architecture = "olmo2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = olmo2Names,
    .readKeys = readLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
