#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr auto mixtralNames = joinNames(
    {
        {"block_sparse_moe.gate", "ffn_gate_inp"},
        {"block_sparse_moe.experts.#.w1", "ffn_gate_exps"},
        {"block_sparse_moe.experts.#.w3", "ffn_up_exps"},
        {"block_sparse_moe.experts.#.w2", "ffn_down_exps"},
    },
    endNames, normNames, attentionNames);

static absl::Status readMixtral(HfKeys& keys) {
  keys.map("expert_count", "num_local_experts");
  keys.map("expert_used_count", "num_experts_per_tok");
  return readDecoder(keys, WindowedBlocks::All, "hidden_act", "silu");
}

extern const HfFamily mixtralFamily;
constexpr HfFamily mixtralFamily = {
    .modelType = "mixtral",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = mixtralNames,
    .readKeys = readMixtral,
    .tiesOutput = false,
};

} // namespace tenon::frontends
