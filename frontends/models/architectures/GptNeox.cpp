#include "frontends/models/Architecture.h"

namespace tenon::frontends {

static Value buildAttention(ModelGraph& graph, Value normed) {
  Heads heads = graph.projectFusedHeads(normed, Bias::Required);
  return graph.rotateAndAttend(heads, Bias::Required);
}

/// The GELU is the exact one (erf), as the model's own code has it.
static Value buildMlp(ModelGraph& graph, Value normed) {
  const Hyperparameters& p = graph.parameters();
  Value up = graph.linear(normed, "ffn_up", p.ffn, Bias::Required);
  Value activated = graph.builder().gelu(up, {.name = "ffn_gelu"});
  return graph.linear(activated, "ffn_down", p.hidden, Bias::Required);
}

/// Black et al. 2022, arXiv 2204.06745. The sums have the order of the model's own code
/// (GPTNeoXLayer in Hugging Face's transformers):
///
///     parallel: y = (mlp(ffn_norm(x)) + attention(attn_norm(x))) + x
///     serial:   h = attention(attn_norm(x)) + x, y = mlp(ffn_norm(h)) + h
static Value buildGptNeoxBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value attention = buildAttention(graph, graph.norm(x, "attn_norm"));
  if (graph.flag("use_parallel_residual")) {
    Value mlp = buildMlp(graph, graph.norm(x, "ffn_norm"));
    Value both = builder.add(mlp, attention, {.name = "parallel_sum"});
    return builder.add(both, x, {.name = "residual"});
  }
  Value middle = builder.add(attention, x, {.name = "attn_residual"});
  Value mlp = buildMlp(graph, graph.norm(middle, "ffn_norm"));
  return builder.add(mlp, middle, {.name = "ffn_residual"});
}

static constexpr std::string_view keys[] = {"use_parallel_residual"};

extern const Architecture gptNeoxArchitecture;
constexpr Architecture gptNeoxArchitecture = {
    .name = "gptneox",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .keys = keys,
    .buildBlock = buildGptNeoxBlock,
};

} // namespace tenon::frontends
