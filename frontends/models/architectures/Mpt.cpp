#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Positions enter as linear biases of attention, or as learned embeddings.
static Value buildMptEmbedding(ModelGraph& graph) {
  Value tokens = graph.embedTokens();
  if (graph.parameters().alibiBias > 0)
    return tokens;
  return graph.builder().add(tokens, graph.embedPositions(), {.name = "embedding_sum"});
}

static Value buildMlp(ModelGraph& graph, Value normed) {
  const Hyperparameters& p = graph.parameters();
  Value up = graph.linear(normed, "ffn_up", p.ffn, Bias::Optional);
  Value activated = graph.builder().gelu(up, {.name = "ffn_gelu"});
  return graph.linear(activated, "ffn_down", p.hidden, Bias::Optional);
}

/// MosaicML NLP Team 2023, "Introducing MPT-7B"; the GELU is the exact one (erf), the sums have the
/// order of the model's own code (MptBlock in Hugging Face's transformers):
///
///     h = x + attn_output(attention(clamp(attn_qkv(attn_norm(x)))))
///     y = h + ffn_down(gelu(ffn_up(ffn_norm(h))))
static Value buildMptBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectFusedHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  return graph.addHalves(x, graph.attend(heads, Bias::Optional),
                         [&](Value normed) { return buildMlp(graph, normed); });
}

static constexpr std::string_view keys[] = {"attention.clamp_kqv", "attention.max_alibi_bias"};

extern const Architecture mptArchitecture;
constexpr Architecture mptArchitecture = {
    .name = "mpt",
    .norm = NormKind::Layer,
    .pairing = std::nullopt,
    .mayTieOutput = true,
    .mayLackNormBias = true,
    .keys = keys,
    .buildEmbedding = buildMptEmbedding,
    .buildBlock = buildMptBlock,
};

} // namespace tenon::frontends
