#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily qwen3Family;
constexpr HfFamily qwen3Family = {
    .modelType = "qwen3",
    .architecture = "qwen3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
