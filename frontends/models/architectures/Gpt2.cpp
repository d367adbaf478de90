#include "frontends/models/Architecture.h"

namespace tenon::frontends {

static Value buildGpt2Embedding(ModelGraph& graph) {
  Value tokens = graph.embedTokens();
  return graph.builder().add(tokens, graph.embedPositions(), {.name = "embedding_sum"});
}

/// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; the GELU is the tanh
/// form, as the model's own code has it (`gelu_new`). Sums in the order of that code (GPT2Block in
/// Hugging Face's transformers):
///
///     h = attn_output(attention(attn_qkv(attn_norm(x)))) + x
///     y = h + ffn_down(gelu(ffn_up(ffn_norm(h))))
static Value buildGpt2Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectFusedHeads(graph.norm(x, "attn_norm"), Bias::Required);
  Value attention = graph.attend(heads, Bias::Required);
  Value middle = builder.add(attention, x, {.name = "attn_residual"});

  Value mlp = graph.geluTanhMlp(graph.norm(middle, "ffn_norm"), Bias::Required);
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

extern const Architecture gpt2Architecture;
constexpr Architecture gpt2Architecture = {
    .name = "gpt2",
    .norm = NormKind::Layer,
    .pairing = std::nullopt,
    .mayTieOutput = true,
    .buildEmbedding = buildGpt2Embedding,
    .buildBlock = buildGpt2Block,
};

} // namespace tenon::frontends
