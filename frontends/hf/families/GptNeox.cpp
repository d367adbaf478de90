#include "frontends/hf/internal/DecoderKeys.h"
#include "frontends/hf/internal/RopeKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto gptNeoxNames = joinNames(
    {
        {"embed_in", "token_embd"},
        {"final_layer_norm", "output_norm"},
        {"embed_out", "output"},
        {"attention", ""}, // `attention.bias`: the causal mask
        {"attention.query_key_value", "attn_qkv"},
        {"attention.dense", "attn_output"},
    },
    normNames, denseMlpNames);

static absl::Status readGptNeox(HfKeys& keys) {
  mapSizes(keys);
  keys.map("attention.layer_norm_epsilon", "layer_norm_eps");
  keys.set("use_parallel_residual", "use_parallel_residual", true);
  keys.map("use_parallel_residual", "use_parallel_residual");
  TENON_RETURN_IF_ERROR(keys.expect("hidden_act", "gelu"));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  // Files of before transformers 5 may leave the default of a quarter out.
  if (!keys.use("rotary_pct") && !keys.use("rope_parameters"))
    return keys.config().error("rotary_pct", "a number above 0 and at most 1", std::string("none"));
  return readRope(keys, headSize, "rotary_emb_base", "rotary_pct");
}

extern const HfFamily gptNeoxFamily;
constexpr HfFamily gptNeoxFamily = {
    .modelType = "gpt_neox",
    .architecture = "gptneox",
    .prefix = "gpt_neox.",
    .blocks = "layers.",
    .names = gptNeoxNames,
    .readKeys = readGptNeox,
    .tiesOutput = false,
    .changeOf = groupFusedHeads,
};

} // namespace tenon::frontends
