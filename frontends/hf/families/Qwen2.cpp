#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily qwen2Family;
constexpr HfFamily qwen2Family = {
    .modelType = "qwen2",
    .architecture = "qwen2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
