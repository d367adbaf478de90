#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Yang et al. 2025, arXiv 2505.09388: Qwen3's block with a mixture of experts.
///
///     n = attn_norm(x)
///     q = rope(attn_q_norm(attn_q(n))), k = rope(attn_k_norm(attn_k(n)))
///     h = x + attn_output(attention(q, k, attn_v(n)))
///     y = h + experts(ffn_norm(h))
static Value buildQwen3MoeBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  heads.query = graph.norm(heads.query, "attn_q_norm");
  heads.key = graph.norm(heads.key, "attn_k_norm");
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value mlp = graph.expertMlp(graph.norm(middle, "ffn_norm"), Activation::Silu);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

extern const Architecture qwen3MoeArchitecture;
constexpr Architecture qwen3MoeArchitecture = {
    .name = "qwen3moe",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .experts = Experts::Required,
    .normalisesExperts = true,
    .buildBlock = buildQwen3MoeBlock,
};

} // namespace tenon::frontends
