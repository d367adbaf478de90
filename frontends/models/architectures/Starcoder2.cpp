#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Lozhkov et al. 2024, arXiv 2402.19173: GPT-2's block with rotated heads, fewer of K and V. All blocks
/// have the sliding window, where the file states one.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     y = h + ffn_down(gelu_tanh(ffn_up(ffn_norm(h))))
static Value buildStarcoder2Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value mlp = graph.geluTanhMlp(graph.norm(middle, "ffn_norm"), Bias::Optional);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
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
