#include "frontends/models/Architecture.h"

namespace tenon::frontends {

static Value buildNomicBertEmbedding(ModelGraph& graph) {
  Value typed =
      graph.builder().add(graph.embedTokens(), graph.embedFirstType(), {.name = "embedding_typed"});
  return graph.norm(typed, "token_embd_norm");
}

/// Nussbaum et al. 2024, arXiv 2402.01613: BERT with rotated heads in place of learned positions, a
/// gated unit and no biases but those of norms.
///
///     h = attn_output_norm(x + attn_output(attention(rope(attn_q(x)), rope(attn_k(x)), attn_v(x))))
///     y = layer_output_norm(h + ffn_down(silu(ffn_gate(h)) · ffn_up(h)))
static Value buildNomicBertBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(x, Bias::Optional);
  Value middle = graph.norm(
      graph.addResidual(x, graph.rotateAndAttend(heads, Bias::Optional), "attn_residual"),
      "attn_output_norm");
  Value mlp = graph.gatedMlp(middle, Activation::Silu);
  return graph.norm(graph.addResidual(middle, mlp, "ffn_residual"), "layer_output_norm");
}

extern const Architecture nomicBertArchitecture;
constexpr Architecture nomicBertArchitecture = {
    .name = "nomic-bert",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .isEncoder = true,
    .buildEmbedding = buildNomicBertEmbedding,
    .buildBlock = buildNomicBertBlock,
};

} // namespace tenon::frontends
