#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Bakouch et al. 2025, "SmolLM3": Llama's block, in which every fourth leaves its heads as they are
/// (Yang et al. 2025, arXiv 2501.18795: no positional encoding), so that they look equally far.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
static Value buildSmollm3Block(ModelGraph& graph, Value x) {
  constexpr int64_t step = 4; // files do not state it
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  const bool rotates = (graph.blockIndex() + 1) % step != 0;
  Value attention =
      rotates ? graph.rotateAndAttend(heads, Bias::Optional) : graph.attend(heads, Bias::Optional);
  return graph.addHalves(x, attention, Activation::Silu);
}

extern const Architecture smollm3Architecture;
constexpr Architecture smollm3Architecture = {
    .name = "smollm3",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .buildBlock = buildSmollm3Block,
};

} // namespace tenon::frontends
