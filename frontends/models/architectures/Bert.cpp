#include "frontends/models/Architecture.h"

namespace tenon::frontends {

static Value buildBertEmbedding(ModelGraph& graph) {
  GraphBuilder& builder = graph.builder();
  Value typed =
      builder.add(graph.embedTokens(), graph.embedFirstType(), {.name = "embedding_typed"});
  Value sum = builder.add(typed, graph.embedPositions(), {.name = "embedding_sum"});
  return graph.norm(sum, "token_embd_norm");
}

static Value buildMlp(ModelGraph& graph, Value x) {
  const Hyperparameters& p = graph.parameters();
  Value up = graph.linear(x, "ffn_up", p.ffn, Bias::Required);
  Value activated = graph.builder().gelu(up, {.name = "ffn_gelu"});
  return graph.linear(activated, "ffn_down", p.hidden, Bias::Required);
}

/// Devlin et al. 2018, arXiv 1810.04805: an encoder with norms after the halves of a block and
/// learned positions; each text is a first sentence, of type 0. The GELU is the exact one (erf),
/// the sums have the order of the model's own code (BertLayer in Hugging Face's transformers):
///
///     h = attn_output_norm(attn_output(attention(attn_q(x), attn_k(x), attn_v(x))) + x)
///     y = layer_output_norm(ffn_down(gelu(ffn_up(h))) + h)
static Value buildBertBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value attention = graph.attend(graph.projectHeads(x, Bias::Required), Bias::Required);
  Value middle =
      graph.norm(builder.add(attention, x, {.name = "attn_residual"}), "attn_output_norm");
  Value mlp = buildMlp(graph, middle);
  return graph.norm(builder.add(mlp, middle, {.name = "ffn_residual"}), "layer_output_norm");
}

extern const Architecture bertArchitecture;
constexpr Architecture bertArchitecture = {
    .name = "bert",
    .norm = NormKind::Layer,
    .pairing = std::nullopt,
    .mayTieOutput = false,
    .isEncoder = true,
    .buildEmbedding = buildBertEmbedding,
    .buildBlock = buildBertBlock,
};

} // namespace tenon::frontends
