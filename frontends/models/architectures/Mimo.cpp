#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Xia et al. 2025, arXiv 2505.07608: Qwen2's block, and behind the blocks a head that guesses one
/// token more (`ModelGraph::draftHidden`).
static Value buildMimoBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Required);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

extern const Architecture mimoArchitecture;
constexpr Architecture mimoArchitecture = {
    .name = "mimo",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .mayHaveDraftHead = true,
    .buildBlock = buildMimoBlock,
};

} // namespace tenon::frontends
