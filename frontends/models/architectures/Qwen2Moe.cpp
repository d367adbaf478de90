#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Of the experts and, where the file has one, of that which all rows share.
static Value buildMlp(ModelGraph& graph, Value normed) {
  GraphBuilder& builder = graph.builder();
  Value mlp = graph.expertMlp(normed, Activation::Silu);
  const int64_t outputs = graph.parameters().sharedFfn;
  if (outputs == 0)
    return mlp;
  Value shared = graph.gatedMlp(normed, Activation::Silu, "_shexp", outputs);
  Value gate = builder.sigmoid(graph.linear(normed, "ffn_gate_inp_shexp", 1, Bias::Optional),
                               {.name = "ffn_gate_shexp.sigmoid"});
  shared = builder.mul(shared, gate, {.name = "ffn_shexp"});
  return builder.add(mlp, shared, {.name = "ffn_joined"});
}

/// Qwen Team 2024, Qwen1.5-MoE: Qwen2's block with a mixture of experts and, where the file has one,
/// an expert that all rows share, times a number that the row chooses.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     s = ffn_down_shexp(silu(ffn_gate_shexp(m)) · ffn_up_shexp(m))
///     y = h + (experts(m) + sigmoid(ffn_gate_inp_shexp(m)) · s)
static Value buildQwen2MoeBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Required);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  return graph.addHalves(x, attention, [&](Value normed) { return buildMlp(graph, normed); });
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
