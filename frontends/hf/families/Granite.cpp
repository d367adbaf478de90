#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static absl::Status readGranite(HfKeys& keys) {
  keys.map("embedding_scale", "embedding_multiplier");
  keys.map("residual_scale", "residual_multiplier");
  keys.map("logit_scale", "logits_scaling");
  // Without it the scores are not scaled.
  keys.set("attention.scale", "attention_multiplier", 1.0);
  keys.map("attention.scale", "attention_multiplier");
  return readLlama(keys);
}

extern const HfFamily graniteFamily;
constexpr HfFamily graniteFamily = {
    .modelType = "granite",
    .architecture = "granite",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readGranite,
    .tiesOutput = false,
};

} // namespace tenon::frontends
