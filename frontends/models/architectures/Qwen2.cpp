#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Yang et al. 2024, arXiv 2407.10671: Llama's block with biases on Q, K and V, whose rows keep the
/// order of the model's own code.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
static Value buildQwen2Block(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Required);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

extern const Architecture qwen2Architecture;
constexpr Architecture qwen2Architecture = {
    .name = "qwen2",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .buildBlock = buildQwen2Block,
};

} // namespace tenon::frontends
