#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Yang et al. 2025, arXiv 2505.09388: Llama's block with a norm over each head of Q and K before
/// it is rotated.
///
///     n = attn_norm(x)
///     q = rope(attn_q_norm(attn_q(n))), k = rope(attn_k_norm(attn_k(n)))
///     h = x + attn_output(attention(q, k, attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
static Value buildQwen3Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  heads.query = graph.norm(heads.query, "attn_q_norm");
  heads.key = graph.norm(heads.key, "attn_k_norm");
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value mlp = graph.gatedMlp(graph.norm(middle, "ffn_norm"), Activation::Silu);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

extern const Architecture qwen3Architecture;
constexpr Architecture qwen3Architecture = {
    .name = "qwen3",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .buildBlock = buildQwen3Block,
};

} // namespace tenon::frontends
