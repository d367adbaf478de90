#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readOlmoe(HfKeys& keys) {
  TENON_RETURN_IF_ERROR(keys.expect("clip_qkv", nullptr));
  return readQwenMoe(keys);
}

extern const HfFamily olmoeFamily;
constexpr HfFamily olmoeFamily = {
    .modelType = "olmoe",
    .architecture = "olmoe",
    .prefix = "model.",
    .blocks = "layers.",
    .names = qwenMoeNames,
    .readKeys = readOlmoe,
    .tiesOutput = false,
};

} // namespace tenon::frontends
