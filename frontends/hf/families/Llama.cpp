#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr std::string_view llamaOuter[] = {"internvl", "llava", "llava_next"};

extern const HfFamily llamaFamily;
constexpr HfFamily llamaFamily = {
    .modelType = "llama",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readLlama,
    .tiesOutput = false,
    .nestedIn = llamaOuter,
    .defaults =
        R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6})",
};

} // namespace tenon::frontends
