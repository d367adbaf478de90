#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view qwen3Outer[] = {"internvl"};

extern const HfFamily qwen3Family;
constexpr HfFamily qwen3Family = {
    .modelType = "qwen3",
    .architecture = "qwen3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
    .nestedIn = qwen3Outer,
    .defaults =
        R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768, )"
        R"("head_dim": 128, "rms_norm_eps": 1e-6, "use_sliding_window": false})",
};

} // namespace tenon::frontends
