#include <limits>

#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// (g · sigmoid(1.702 · g)) · (u + 1) with g = min(gate, 7) and u = up within ± 7; files do not
/// state these numbers.
static Value buildUnit(ModelGraph& graph, Value gate, Value up) {
  constexpr double alpha = 1.702, limit = 7;
  GraphBuilder& builder = graph.builder();
  Value g = builder.clamp(gate, -std::numeric_limits<double>::infinity(), limit,
                          {.name = "ffn_gate_exps.clamp"});
  Value u = builder.clamp(up, -limit, limit, {.name = "ffn_up_exps.clamp"});
  Value scaled = builder.scale(g, alpha, {.name = "ffn_gate_exps.scaled"});
  Value activated = builder.mul(g, builder.sigmoid(scaled, {.name = "ffn_gate_exps.sigmoid"}),
                                {.name = "ffn_gate_exps.swish"});
  Value one = builder.constant({1}, {1.0f}, {.name = "ffn_up_exps.one"});
  return builder.mul(activated, builder.add(u, one, {.name = "ffn_up_exps.raised"}),
                     {.name = "ffn_glu_exps"});
}

/// OpenAI 2025, arXiv 2508.10925: a mixture of experts with biases and a clamped unit; attention
/// with a learned sink for each head (Xiao et al. 2023, arXiv 2309.17453), in blocks 0, 2, 4 and so
/// on within the window. Experts are chosen by the largest of ffn_gate_inp(m); the softmax over the
/// chosen alone that the model's own code has is that over all divided by its sum over the chosen.
/// YaRN's ramp lies between pairs, as in that code (GptOssRotaryEmbedding in Hugging Face's
/// transformers); llama.cpp rounds it.
///
///     n = attn_norm(x)
///     a = attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n), attn_sinks)
///     h = x + attn_output(a)
///     y = h + experts(post_attention_norm(h))
static Value buildGptOssBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Required);
  heads.sinks = graph.vector("attn_sinks", graph.parameters().heads);
  Value middle =
      graph.addResidual(x, graph.rotateAndAttend(heads, Bias::Required), "attn_residual");
  Value mlp = graph.expertMlp(graph.norm(middle, "post_attention_norm"),
                              [&](Value gate, Value up) { return buildUnit(graph, gate, up); });
  return graph.addResidual(middle, mlp, "ffn_residual");
}

extern const Architecture gptOssArchitecture;
constexpr Architecture gptOssArchitecture = {
    .name = "gpt-oss",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .windowed = WindowedBlocks::Even,
    .truncatesYarn = false,
    .experts = Experts::Required,
    .normalisesExperts = true,
    .buildBlock = buildGptOssBlock,
};

} // namespace tenon::frontends
