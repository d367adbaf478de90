#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Files do not state it: the slopes of Press et al. 2021, arXiv 2108.12409.
static absl::Status completeBloom(const ModelSource&, Hyperparameters& p) {
  constexpr double largestExponent = 8;
  p.alibiBias = largestExponent;
  return absl::OkStatus();
}

static Value buildBloomEmbedding(ModelGraph& graph) {
  return graph.norm(graph.embedTokens(), "token_embd_norm");
}

/// BigScience Workshop 2022, arXiv 2211.05100; positions enter as linear biases of attention. The
/// GELU is the tanh form, the sums have the order of the model's own code (BloomBlock in Hugging
/// Face's transformers):
///
///     h = attn_output(attention(attn_qkv(attn_norm(x)))) + x
///     y = ffn_down(gelu(ffn_up(ffn_norm(h)))) + h
static Value buildBloomBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectFusedHeads(graph.norm(x, "attn_norm"), Bias::Required);
  Value attention = graph.attend(heads, Bias::Required);
  Value middle = builder.add(attention, x, {.name = "attn_residual"});
  Value mlp = graph.geluTanhMlp(graph.norm(middle, "ffn_norm"), Bias::Required);
  return builder.add(mlp, middle, {.name = "ffn_residual"});
}

extern const Architecture bloomArchitecture;
constexpr Architecture bloomArchitecture = {
    .name = "bloom",
    .norm = NormKind::Layer,
    .pairing = std::nullopt,
    .mayTieOutput = true,
    .completeParameters = completeBloom,
    .buildEmbedding = buildBloomEmbedding,
    .buildBlock = buildBloomBlock,
};

} // namespace tenon::frontends
