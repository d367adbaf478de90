#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// `no_rope_layers` must say what the architecture does: every fourth block is not rotated (0).
static absl::Status readSmollm3(HfKeys& keys) {
  constexpr size_t step = 4;
  TENON_RETURN_IF_ERROR(keys.expect("no_rope_layer_interval", step));
  if (const nlohmann::json* layers = keys.use("no_rope_layers")) {
    if (!layers->is_array())
      return keys.config().error("no_rope_layers", "a list", *layers);
    for (size_t layer = 0; layer < layers->size(); ++layer)
      if (const int rotates = (layer + 1) % step != 0; (*layers)[layer] != rotates)
        return keys.config().error(absl::StrFormat("no_rope_layers[%d]", layer),
                                   absl::StrCat(rotates), (*layers)[layer]);
  }
  return readLlama(keys);
}

extern const HfFamily smollm3Family;
constexpr HfFamily smollm3Family = {
    .modelType = "smollm3",
    .architecture = "smollm3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readSmollm3,
    .tiesOutput = true,
};

} // namespace tenon::frontends
