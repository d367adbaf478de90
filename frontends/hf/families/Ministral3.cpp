#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// What `rope_parameters` says beside YaRN: how queries grow with their position.
static absl::Status readMinistral3(HfKeys& keys) {
  const nlohmann::json* rope = keys.use("rope_parameters");
  if (!rope)
    return keys.config().error("rope_parameters", "an object", std::string("none"));
  if (const nlohmann::json* scale = JsonFile::find(*rope, "llama_4_scaling_beta"))
    keys.set("attention.temperature_scale", "rope_parameters.llama_4_scaling_beta", *scale);
  return readLlama(keys);
}

static constexpr std::string_view ministral3Outer[] = {"mistral3"};

extern const HfFamily ministral3Family;
constexpr HfFamily ministral3Family = {
    .modelType = "ministral3",
    .architecture = "mistral3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readMinistral3,
    .tiesOutput = false,
    .nestedIn = ministral3Outer,
    .defaults =
        R"({"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 34, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, )"
        R"("max_position_embeddings": 262144, "rms_norm_eps": 1e-5})",
};

} // namespace tenon::frontends
