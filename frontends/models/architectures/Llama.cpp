#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Touvron et al. 2023, arXiv 2302.13971; grouped-query attention from Llama 2 on. GGUF stores the
/// rows of Q and K so that rotated pairs are adjacent.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
///
/// Mistral (Jiang et al. 2023, arXiv 2310.06825) is a Llama in GGUF; all of its blocks have the
/// sliding window, where the file states one. So is Mixtral (Jiang et al. 2024, arXiv 2401.04088),
/// whose feed-forward layer is a mixture of experts.
static Value buildLlamaBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

extern const Architecture llamaArchitecture;
constexpr Architecture llamaArchitecture = {
    .name = "llama",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::All,
    .experts = Experts::Optional,
    .normalisesExperts = true,
    .buildBlock = buildLlamaBlock,
};

} // namespace tenon::frontends
