#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr auto names = joinNames(
    {
        {"mlp.c_fc", "ffn_up"},
        {"mlp.c_proj", "ffn_down"},
    },
    endNames, normNames, attentionNames);

static absl::Status readStarcoder2(HfKeys& keys) {
  keys.use("use_bias"); // the tensors show it
  return readDecoder(keys, WindowedBlocks::All, "hidden_act", "gelu_pytorch_tanh",
                     "attention.layer_norm_epsilon", "norm_epsilon");
}

extern const HfFamily starcoder2Family;
constexpr HfFamily starcoder2Family = {
    .modelType = "starcoder2",
    .architecture = "starcoder2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = names,
    .readKeys = readStarcoder2,
    .tiesOutput = true,
};

} // namespace tenon::frontends
