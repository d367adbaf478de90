#include "frontends/gguf/architectures/Architecture.h"

namespace tenon::frontends {

/// The rows of Q, K and V lie behind one another in one tensor.
static Value buildAttention(ModelGraph& graph, Value normed) {
  const Hyperparameters& p = graph.parameters();
  int64_t queryRows = p.heads * p.headSize;
  int64_t keyRows = p.kvHeads * p.headSize;
  int64_t valueRows = p.kvHeads * p.valueSize;
  auto part = [&](std::string_view name, int64_t first, int64_t count) {
    return graph.linearPart(normed, name, "attn_qkv", queryRows + keyRows + valueRows,
                            {first, count}, Bias::Required);
  };
  Value query = part("attn_q", 0, queryRows);
  Value key = part("attn_k", queryRows, keyRows);
  Value value = part("attn_v", queryRows + keyRows, valueRows);
  query = graph.rotate(graph.splitHeads(query, p.heads, "attn_q"), "attn_q");
  key = graph.rotate(graph.splitHeads(key, p.kvHeads, "attn_k"), "attn_k");
  value = graph.splitHeads(value, p.kvHeads, "attn_v");
  return graph.linear(graph.attend(query, key, value), "attn_output", p.hidden, Bias::Required);
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

extern const Architecture gptNeoxArchitecture;
const Architecture gptNeoxArchitecture = {
    .name = "gptneox",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Halves,
    .mayTieOutput = false,
    .buildBlock = buildGptNeoxBlock,
};

} // namespace tenon::frontends
