#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Muennighoff et al. 2024, arXiv 2409.02060: Llama's block with norms over all of Q and of K before
/// they are cut into heads, and a mixture of experts.
///
///     n = attn_norm(x)
///     q = rope(attn_q_norm(attn_q(n))), k = rope(attn_k_norm(attn_k(n)))
///     h = x + attn_output(attention(q, k, attn_v(n)))
///     y = h + experts(ffn_norm(h))
static Value buildOlmoeBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectNormedHeads(graph.norm(x, "attn_norm"));
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

extern const Architecture olmoeArchitecture;
constexpr Architecture olmoeArchitecture = {
    .name = "olmoe",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .experts = Experts::Required,
    .buildBlock = buildOlmoeBlock,
};

} // namespace tenon::frontends
