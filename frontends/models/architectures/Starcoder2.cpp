#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Lozhkov et al. 2024, arXiv 2402.19173: GPT-2's block with rotated heads, fewer of K and V. All blocks
/// have the sliding window, where the file states one.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     y = h + ffn_down(gelu_tanh(ffn_up(ffn_norm(h))))
static Value buildStarcoder2Block(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  return graph.addHalves(x, attention,
                         [&](Value normed) { return graph.geluTanhMlp(normed, Bias::Optional); });
}

extern const Architecture starcoder2Architecture;
constexpr Architecture starcoder2Architecture = {
    .name = "starcoder2",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::All,
    .buildBlock = buildStarcoder2Block,
};

} // namespace tenon::frontends
