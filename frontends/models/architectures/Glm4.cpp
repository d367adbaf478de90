#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// GLM-4-0414 (Glm4DecoderLayer in Hugging Face's transformers): each half of the block between two
/// norms, a part of each head rotated, fused rows of gate and up.
///
///     n = attn_norm(x)
///     a = attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     h = x + post_attention_norm(a)
///     gate, up = ffn_up(ffn_norm(h))
///     y = h + post_ffw_norm(ffn_down(silu(gate) · up))
static Value buildGlm4Block(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle =
      graph.addResidual(x, graph.norm(attention, "post_attention_norm"), "attn_residual");
  Value mlp = graph.fusedGatedMlp(graph.norm(middle, "ffn_norm"), Activation::Silu);
  return graph.addResidual(middle, graph.norm(mlp, "post_ffw_norm"), "ffn_residual");
}

extern const Architecture glm4Architecture;
constexpr Architecture glm4Architecture = {
    .name = "glm4",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .buildBlock = buildGlm4Block,
};

} // namespace tenon::frontends
