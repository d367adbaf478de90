#include "frontends/gguf/architectures/Architecture.h"

namespace tenon::frontends {

/// Touvron et al. 2023, arXiv 2302.13971; grouped-query attention from Llama 2 on. GGUF stores the
/// rows of Q and K so that rotated pairs are adjacent.
///
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
///
/// with n = attn_norm(x) and m = ffn_norm(h).
static Value buildLlamaBlock(ModelGraph& graph, Value x) {
  const Hyperparameters& p = graph.parameters();
  GraphBuilder& builder = graph.builder();

  Value normed = graph.norm(x, "attn_norm");
  Value query = graph.linear(normed, "attn_q", p.heads * p.headSize, Bias::Optional);
  Value key = graph.linear(normed, "attn_k", p.kvHeads * p.headSize, Bias::Optional);
  Value value = graph.linear(normed, "attn_v", p.kvHeads * p.valueSize, Bias::Optional);
  query = graph.rotate(graph.splitHeads(query, p.heads, "attn_q"), "attn_q");
  key = graph.rotate(graph.splitHeads(key, p.kvHeads, "attn_k"), "attn_k");
  value = graph.splitHeads(value, p.kvHeads, "attn_v");
  Value attended = graph.attend(query, key, value);
  Value attention = graph.linear(attended, "attn_output", p.hidden, Bias::Optional);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});

  normed = graph.norm(middle, "ffn_norm");
  Value gate = graph.linear(normed, "ffn_gate", p.ffn, Bias::Optional);
  Value up = graph.linear(normed, "ffn_up", p.ffn, Bias::Optional);
  Value gated = builder.glu(Activation::Silu, gate, up, {.name = "ffn_glu"});
  Value down = graph.linear(gated, "ffn_down", p.hidden, Bias::Optional);
  return builder.add(middle, down, {.name = "ffn_residual"});
}

extern const Architecture llamaArchitecture;
const Architecture llamaArchitecture = {
    .name = "llama",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .buildBlock = buildLlamaBlock,
};

} // namespace tenon::frontends
