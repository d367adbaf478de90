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
/// sliding window, where the file states one.
static Value buildLlamaBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value mlp = graph.gatedMlp(graph.norm(middle, "ffn_norm"), Activation::Silu);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

extern const Architecture llamaArchitecture;
constexpr Architecture llamaArchitecture = {
    .name = "llama",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::All,
    .buildBlock = buildLlamaBlock,
};

} // namespace tenon::frontends
