#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// OLMo Team 2025, arXiv 2501.00656: norms after the halves of a block instead of in front, and over
/// all heads of Q and of K at once.
///
///     q = rope(attn_q_norm(attn_q(x))), k = rope(attn_k_norm(attn_k(x)))
///     h = x + post_attention_norm(attn_output(attention(q, k, attn_v(x))))
///     y = h + post_ffw_norm(ffn_down(silu(ffn_gate(h)) · ffn_up(h)))
static Value buildOlmo2Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value attention = graph.rotateAndAttend(graph.projectNormedHeads(x), Bias::Optional);
  Value middle =
      builder.add(x, graph.norm(attention, "post_attention_norm"), {.name = "attn_residual"});
  Value mlp = graph.gatedMlp(middle, Activation::Silu);
  return builder.add(middle, graph.norm(mlp, "post_ffw_norm"), {.name = "ffn_residual"});
}

extern const Architecture olmo2Architecture;
constexpr Architecture olmo2Architecture = {
    .name = "olmo2",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .buildBlock = buildOlmo2Block,
};

} // namespace tenon::frontends
