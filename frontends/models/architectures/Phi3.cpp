#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Abdin et al. 2024, arXiv 2404.14219: Llama's block with fused projections. The sliding window,
/// where the file states one, is that of all blocks, as in the model's own code (Phi3Model in
/// Hugging Face's transformers); llama.cpp leaves it out.
///
///     q, k, v = attn_qkv(attn_norm(x))
///     h = x + attn_output(attention(rope(q), rope(k), v))
///     gate, up = ffn_up(ffn_norm(h))
///     y = h + ffn_down(silu(gate) · up)
static Value buildPhi3Block(ModelGraph& graph, Value x) {
  Heads heads = graph.projectFusedHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  return graph.addHalves(
      x, attention, [&](Value normed) { return graph.fusedGatedMlp(normed, Activation::Silu); });
}

extern const Architecture phi3Architecture;
constexpr Architecture phi3Architecture = {
    .name = "phi3",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::All,
    .buildBlock = buildPhi3Block,
};

} // namespace tenon::frontends
