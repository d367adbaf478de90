#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view qwen2Outer[] = {"internvl", "llava", "llava_next"};

extern const HfFamily qwen2Family;
constexpr HfFamily qwen2Family = {
    .modelType = "qwen2",
    .architecture = "qwen2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
    .nestedIn = qwen2Outer,
    .defaults =
        R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768, )"
        R"("rms_norm_eps": 1e-6, "use_sliding_window": false})",
};

} // namespace tenon::frontends
