#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily mistralFamily;
constexpr HfFamily mistralFamily = {
    .modelType = "mistral",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readWindowedLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
