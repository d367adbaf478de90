#include "frontends/models/Architecture.h"
#include "frontends/models/internal/HeadNorms.h"

namespace tenon::frontends {

/// Bellagente et al. 2024, arXiv 2402.17834: Llama's block with layer norms and a part of each head
/// rotated. StableLM 2 12B has both halves of a block from one norm, in parallel, and norms of the
/// heads of Q and K before they are rotated, each with its own weight.
///
///     n = attn_norm(x)
///     a = attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     mlp(m) = ffn_down(silu(ffn_gate(m)) · ffn_up(m))
///     serial:   h = x + a, y = h + mlp(ffn_norm(h))
///     parallel: y = (x + a) + mlp(n)
static Value buildStableLmBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value normed = graph.norm(x, "attn_norm");
  Value attention = graph.rotateAndAttend(
      graph.normHeadsApart(graph.projectHeads(normed, Bias::Optional)), Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  Value input = graph.flag("use_parallel_residual") ? normed : graph.norm(middle, "ffn_norm");
  return builder.add(middle, graph.gatedMlp(input, Activation::Silu), {.name = "ffn_residual"});
}

static constexpr std::string_view keys[] = {headNormsKey, "use_parallel_residual"};

extern const Architecture stableLmArchitecture;
constexpr Architecture stableLmArchitecture = {
    .name = "stablelm",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .keys = keys,
    .completeParameters = [](const ModelSource& source,
                             Hyperparameters&) { return checkHeadNorms(source); },
    .buildBlock = buildStableLmBlock,
};

} // namespace tenon::frontends
