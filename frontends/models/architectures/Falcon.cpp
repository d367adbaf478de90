#include "frontends/models/Architecture.h"

namespace tenon::frontends {

static Value buildMlp(ModelGraph& graph, Value normed) {
  const Hyperparameters& p = graph.parameters();
  Value up = graph.linear(normed, "ffn_up", p.ffn, Bias::Optional);
  Value activated = graph.builder().gelu(up, {.name = "ffn_gelu"});
  return graph.linear(activated, "ffn_down", p.hidden, Bias::Optional);
}

/// Almazrouei et al. 2023, arXiv 2311.16867: both halves of a block in parallel, from one norm or,
/// in Falcon 40B, from one each: attention has `attn_norm_2` there. The GELU is the exact one
/// (erf), the sums have the order of the model's own code (FalconDecoderLayer in Hugging Face's
/// transformers).
///
///     n = attn_norm(x), m = attn_norm_2(x) where the file has it, else n
///     a = attn_output(attention(rope(attn_q(m)), rope(attn_k(m)), attn_v(m)))
///     y = (ffn_down(gelu(ffn_up(n))) + a) + x
static Value buildFalconBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value normed = graph.norm(x, "attn_norm");
  Value input = graph.has("attn_norm_2.weight") ? graph.norm(x, "attn_norm_2") : normed;
  Value attention =
      graph.rotateAndAttend(graph.projectFusedHeads(input, Bias::Optional), Bias::Optional);
  Value both = builder.add(buildMlp(graph, normed), attention, {.name = "parallel_sum"});
  return builder.add(both, x, {.name = "residual"});
}

extern const Architecture falconArchitecture;
constexpr Architecture falconArchitecture = {
    .name = "falcon",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .buildBlock = buildFalconBlock,
};

} // namespace tenon::frontends
