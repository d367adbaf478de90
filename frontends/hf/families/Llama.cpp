#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily llamaFamily;
constexpr HfFamily llamaFamily = {
    .modelType = "llama",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
