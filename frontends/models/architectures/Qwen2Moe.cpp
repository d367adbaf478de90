#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Qwen Team 2024, Qwen1.5-MoE: Qwen2's block with a mixture of experts and, where the file has one,
/// an expert that all rows share, times a number that the row chooses.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     s = ffn_down_shexp(silu(ffn_gate_shexp(m)) · ffn_up_shexp(m))
///     y = h + (experts(m) + sigmoid(ffn_gate_inp_shexp(m)) · s)
static Value buildQwen2MoeBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Required);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value normed = graph.norm(middle, "ffn_norm");
  Value mlp = graph.expertMlp(normed, Activation::Silu);
  if (int64_t outputs = graph.parameters().sharedFfn; outputs > 0) {
    Value shared = graph.gatedMlp(normed, Activation::Silu, "_shexp", outputs);
    Value gate = builder.sigmoid(graph.linear(normed, "ffn_gate_inp_shexp", 1, Bias::Optional),
                                 {.name = "ffn_gate_shexp.sigmoid"});
    shared = builder.mul(shared, gate, {.name = "ffn_shexp"});
    mlp = builder.add(mlp, shared, {.name = "ffn_joined"});
  }
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

extern const Architecture qwen2MoeArchitecture;
constexpr Architecture qwen2MoeArchitecture = {
    .name = "qwen2moe",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .experts = Experts::Required,
    .buildBlock = buildQwen2MoeBlock,
};

} // namespace tenon::frontends
