#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily phi3Family;
constexpr HfFamily phi3Family = {
    .modelType = "phi3",
    .architecture = "phi3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readWindowedLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
