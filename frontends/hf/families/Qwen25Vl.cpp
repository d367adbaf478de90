#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view qwen25VlOuter[] = {"qwen2_5_vl"};

extern const HfFamily qwen25VlFamily;
constexpr HfFamily qwen25VlFamily = {
    .modelType = "qwen2_5_vl_text",
    .architecture = "qwen2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readQwenVl,
    .tiesOutput = false,
    .nestedIn = qwen25VlOuter,
    .defaults =
        R"({"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568, "num_hidden_layers": 80, )"
        R"("num_attention_heads": 64, "num_key_value_heads": 8, "max_position_embeddings": 32768, )"
        R"("rms_norm_eps": 1e-5, "use_sliding_window": false, "rope_theta": 1000000.0})",
};

} // namespace tenon::frontends
