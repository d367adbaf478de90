#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view mistralOuter[] = {"llava", "llava_next", "mistral3"};

extern const HfFamily mistralFamily;
constexpr HfFamily mistralFamily = {
    .modelType = "mistral",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readWindowedLlama,
    .tiesOutput = false,
    .nestedIn = mistralOuter,
    .defaults =
        R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072, )"
        R"("rms_norm_eps": 1e-6, "sliding_window": 4096})",
};

} // namespace tenon::frontends
