#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view qwen3VlOuter[] = {"qwen3_vl"};

extern const HfFamily qwen3VlFamily;
constexpr HfFamily qwen3VlFamily = {
    .modelType = "qwen3_vl_text",
    .architecture = "qwen3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readQwenVl,
    .tiesOutput = false,
    .nestedIn = qwen3VlOuter,
    .defaults =
        R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, )"
        R"("max_position_embeddings": 128000, "rms_norm_eps": 1e-6, "rope_theta": 500000.0})",
};

} // namespace tenon::frontends
