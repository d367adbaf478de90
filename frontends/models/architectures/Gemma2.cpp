#include <cmath>

#include "frontends/models/Architecture.h"
#include "frontends/models/internal/GemmaEmbedding.h"

namespace tenon::frontends {

/// What files of the first converters do not state: both soft-caps and the window of all published
/// models; and that the largest, of 46 blocks, scales attention by the even share of the hidden
/// size instead of by its head size, for which llama.cpp's files have no key.
static absl::Status completeGemma2(const ModelSource& source, Hyperparameters& p) {
  if (!source.has("attn_logit_softcapping"))
    p.attentionSoftcap = 50;
  if (!source.has("final_logit_softcapping"))
    p.logitSoftcap = 30;
  if (!source.has("attention.sliding_window"))
    p.window = 4096;
  if (!source.has("attention.scale") && p.blocks == 46)
    p.attentionScale =
        1.0 / std::sqrt(static_cast<double>(p.hidden) / static_cast<double>(p.heads));
  return absl::OkStatus();
}

/// Gemma Team 2024, arXiv 2408.00118: each half of the block between two norms, whose weights GGUF
/// stores with their 1 added. Blocks 0, 2, 4 and so on attend within the window.
///
///     n = attn_norm(x)
///     a = attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     h = x + post_attention_norm(a)
///     m = ffn_norm(h)
///     y = h + post_ffw_norm(ffn_down(gelu_tanh(ffn_gate(m)) · ffn_up(m)))
static Value buildGemma2Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle =
      builder.add(x, graph.norm(attention, "post_attention_norm"), {.name = "attn_residual"});
  Value mlp = graph.gatedMlp(graph.norm(middle, "ffn_norm"), Activation::GeluTanh);
  return builder.add(middle, graph.norm(mlp, "post_ffw_norm"), {.name = "ffn_residual"});
}

extern const Architecture gemma2Architecture;
constexpr Architecture gemma2Architecture = {
    .name = "gemma2",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::Even,
    .completeParameters = completeGemma2,
    .buildEmbedding = buildGemmaEmbedding,
    .buildBlock = buildGemma2Block,
};

} // namespace tenon::frontends
