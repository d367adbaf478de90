#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readQwen2Moe(HfKeys& keys) {
  keys.map("expert_shared_feed_forward_length", "shared_expert_intermediate_size");
  TENON_RETURN_IF_ERROR(keys.expect("qkv_bias", true));
  return readQwenMoe(keys);
}

extern const HfFamily qwen2MoeFamily;
constexpr HfFamily qwen2MoeFamily = {
    .modelType = "qwen2_moe",
    .architecture = "qwen2moe",
    .prefix = "model.",
    .blocks = "layers.",
    .names = qwenMoeNames,
    .readKeys = readQwen2Moe,
    .tiesOutput = false,
};

} // namespace tenon::frontends
