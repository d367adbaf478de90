#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Javaheripi et al. 2023, "Phi-2": both halves of a block from one norm, in parallel; a part of each
/// head rotated; the output layer has a bias. The sum has the order of the model's own code
/// (PhiDecoderLayer in Hugging Face's transformers).
///
///     n = attn_norm(x)
///     a = attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     y = (a + ffn_down(gelu_tanh(ffn_up(n)))) + x
static Value buildPhi2Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value normed = graph.norm(x, "attn_norm");
  Value attention =
      graph.rotateAndAttend(graph.projectHeads(normed, Bias::Required), Bias::Required);
  Value mlp = graph.geluTanhMlp(normed, Bias::Required);
  Value both = builder.add(attention, mlp, {.name = "parallel_sum"});
  return builder.add(both, x, {.name = "residual"});
}

extern const Architecture phi2Architecture;
constexpr Architecture phi2Architecture = {
    .name = "phi2",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .hasOutputBias = true,
    .buildBlock = buildPhi2Block,
};

} // namespace tenon::frontends
