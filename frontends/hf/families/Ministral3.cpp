#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// What `rope_parameters` says beside YaRN: how queries grow with their position.
static absl::Status readMinistral3(HfKeys& keys) {
  if (const nlohmann::json* rope = keys.use("rope_parameters"))
    if (const nlohmann::json* scale = JsonFile::find(*rope, "llama_4_scaling_beta"))
      keys.set("attention.temperature_scale", "rope_parameters.llama_4_scaling_beta", *scale);
  return readLlama(keys);
}

extern const HfFamily ministral3Family;
constexpr HfFamily ministral3Family = {
    .modelType = "ministral3",
    .architecture = "mistral3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readMinistral3,
    .tiesOutput = false,
};

} // namespace tenon::frontends
