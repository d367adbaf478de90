#include "frontends/models/Architecture.h"
#include "frontends/models/internal/Qwen3Block.h"

namespace tenon::frontends {

/// Yang et al. 2025, arXiv 2505.09388: Llama's block with a norm over each head of Q and K before
/// it is rotated.
///
///     n = attn_norm(x)
///     q = rope(attn_q_norm(attn_q(n))), k = rope(attn_k_norm(attn_k(n)))
///     h = x + attn_output(attention(q, k, attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
///
/// Qwen3Moe has y = h + experts(m).
Value buildQwen3Block(ModelGraph& graph, Value x) {
  Heads heads = graph.normEachHead(graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional));
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
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
