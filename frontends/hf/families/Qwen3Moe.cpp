#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

extern const HfFamily qwen3MoeFamily;
constexpr HfFamily qwen3MoeFamily = {
    .modelType = "qwen3_moe",
    .architecture = "qwen3moe",
    .prefix = "model.",
    .blocks = "layers.",
    .names = qwenMoeNames,
    .readKeys = readQwenMoe,
    .tiesOutput = false,
};

} // namespace tenon::frontends
