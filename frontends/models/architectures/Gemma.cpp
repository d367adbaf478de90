#include "frontends/models/Architecture.h"
#include "frontends/models/internal/GemmaEmbedding.h"

namespace tenon::frontends {

/// Gemma Team 2024, arXiv 2403.08295: Llama's block with a tanh GELU and norms whose weights GGUF stores
/// with their 1 added.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(gelu_tanh(ffn_gate(m)) · ffn_up(m))
static Value buildGemmaBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::GeluTanh);
}

extern const Architecture gemmaArchitecture;
constexpr Architecture gemmaArchitecture = {
    .name = "gemma",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .buildEmbedding = buildGemmaEmbedding,
    .buildBlock = buildGemmaBlock,
};

} // namespace tenon::frontends
