#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Positions enter as linear biases of attention, or as learned embeddings.
static Value buildMptEmbedding(ModelGraph& graph) {
  Value tokens = graph.embedTokens();
  if (graph.parameters().alibiBias > 0)
    return tokens;
  return graph.builder().add(tokens, graph.embedPositions(), {.name = "embedding_sum"});
}

/// MosaicML NLP Team 2023, "Introducing MPT-7B"; the GELU is the exact one (erf), the sums have the
/// order of the model's own code (MptBlock in Hugging Face's transformers):
///
///     h = x + attn_output(attention(clamp(attn_qkv(attn_norm(x)))))
///     y = h + ffn_down(gelu(ffn_up(ffn_norm(h))))
static Value buildMptBlock(ModelGraph& graph, Value x) {
  const Hyperparameters& p = graph.parameters();
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectFusedHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.attend(heads, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});

  Value up = graph.linear(graph.norm(middle, "ffn_norm"), "ffn_up", p.ffn, Bias::Optional);
  Value activated = builder.gelu(up, {.name = "ffn_gelu"});
  Value mlp = graph.linear(activated, "ffn_down", p.hidden, Bias::Optional);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
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
